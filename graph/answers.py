"""Answers to interrupts: checked before they are stored, so that the graph sees none it
cannot use. Strict: unknown fields, wrong types and empty values are refused."""

from collections.abc import Mapping
from typing import Any, Final

from graph.errors import AnswerInvalid
from graph.text.clean import scrub

MAX_STEPS: Final = 12
MAX_TITLE: Final = 500
MAX_QUERIES: Final = 8
MAX_TEXT: Final = 8_000


def validate_answer(kind: str, payload: Mapping[str, Any], value: object) -> Any:
    """The answer in the form the workflow takes; raises `AnswerInvalid`.

    `payload` is the interrupt's own: a step id it does not know is refused.
    """
    if kind == "clarify":
        return {"text": _text(_fields(value, {"text"}), "text", MAX_TEXT)}
    if kind == "review_plan":
        return _review(payload, value)
    raise AnswerInvalid(f"This release cannot take an answer to a {kind!r} interrupt.")


def _review(payload: Mapping[str, Any], value: object) -> dict[str, Any]:
    body = _fields(value, {"action", "steps", "feedback"})
    action = body.get("action")
    if action == "approve":
        _only(body, {"action"}, "approve")
        return {"action": "approve"}
    if action == "revise":
        _only(body, {"action", "feedback"}, "revise")
        return {"action": "revise", "feedback": _text(body, "feedback", MAX_TEXT)}
    if action == "edit":
        _only(body, {"action", "steps"}, "edit")
        return {"action": "edit", "steps": _steps(payload, body.get("steps"))}
    raise AnswerInvalid('action must be "approve", "edit" or "revise".')


def _steps(payload: Mapping[str, Any], value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not value:
        raise AnswerInvalid(f"steps must be a list of 1 to {MAX_STEPS} steps.")
    if len(value) > MAX_STEPS:
        raise AnswerInvalid(f"A plan has at most {MAX_STEPS} steps; this one has {len(value)}.")
    known = {str(step["id"]): step for step in payload.get("steps", ())}
    seen: set[str] = set()
    out: list[dict[str, Any]] = []
    for place, item in enumerate(value, 1):
        step = _fields(item, {"id", "title", "intent", "queries", "status"}, f"step {place}")
        title = _text(step, "title", MAX_TITLE, f"step {place}: ")
        before = known.get(str(step.get("id")), {})
        if before.get("title") == title:  # what the reader left out stays as it was
            step = {"intent": before["intent"], "queries": before["queries"], **step}
        made: dict[str, Any] = {"title": title, "queries": _queries(step, title, place)}
        intent = step.get("intent", "")
        if not isinstance(intent, str) or len(intent) > MAX_TEXT:
            raise AnswerInvalid(f"step {place}: intent must be a text.")
        made["intent"] = scrub(intent).strip() or title
        if step.get("id") is not None:
            identity = step["id"]
            if not isinstance(identity, str) or identity not in known or identity in seen:
                raise AnswerInvalid(f"step {place}: id must be one of the plan, used once.")
            seen.add(identity)
            made["id"] = identity
        out.append(made)
    return out


def _queries(step: Mapping[str, Any], title: str, place: int) -> list[str]:
    value = step.get("queries")
    if value is None or value == []:
        return [title]
    if not isinstance(value, list) or len(value) > MAX_QUERIES:
        raise AnswerInvalid(f"step {place}: queries must be a list of at most {MAX_QUERIES}.")
    return [_text({"queries": q}, "queries", MAX_TITLE, f"step {place}: ") for q in value]


def _fields(value: object, allowed: set[str], what: str = "The answer") -> dict[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise AnswerInvalid(f"{what} must be an object with {', '.join(sorted(allowed))}.")
    unknown = sorted(str(name)[:40] for name in value if name not in allowed)
    if unknown:
        raise AnswerInvalid(f"{what} has unknown fields: {', '.join(unknown[:5])}.")
    return dict(value)


def _only(body: Mapping[str, Any], allowed: set[str], action: str) -> None:
    extra = sorted(set(body) - allowed)
    if extra:
        raise AnswerInvalid(f"{action} does not take {', '.join(extra)}.")


def _text(body: Mapping[str, Any], name: str, limit: int, where: str = "") -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise AnswerInvalid(f"{where}{name} must be a text.")
    text = scrub(value).strip()
    if not text:
        raise AnswerInvalid(f"{where}{name} is empty.")
    if len(text) > limit:
        raise AnswerInvalid(f"{where}{name} is longer than {limit} characters.")
    return text
