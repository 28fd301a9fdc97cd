"""`start_input`: the state a new thread begins with."""

from collections.abc import Mapping
from typing import Any, Final

from graph.errors import StateTooNew
from graph.state import SCHEMA_VERSION, Request, State
from graph.text.clean import scrub
from graph.text.language import resolve

DEFAULTS: Final[Request] = {
    "depth": "standard",
    "review_plan": True,
    "clarify": True,
    "web": True,
    "documents": True,
    "allow_domains": [],
    "deny_domains": [],
    "max_tokens": None,
    "max_seconds": None,
}


def start_input(
    *, thread_id: str, owner: str, question: str, language: str, request: Mapping[str, Any]
) -> State:
    """`language` is a code or "auto"; `request` the checked body of the start, defaults filled.

    Costs a language detection (under 1 ms; the first one half a second).
    """
    asked = scrub(question).strip()
    known = {name: request.get(name, default) for name, default in DEFAULTS.items()}
    wanted: Request = {**DEFAULTS, **known}  # pyright: ignore[reportAssignmentType]
    return State(
        schema_version=SCHEMA_VERSION,
        thread_id=thread_id,
        owner=owner,
        question=asked,
        title="",
        language=resolve(language, asked),
        request=wanted,
        approved=False,
        plan=[],
        sources={},
        open_questions=[],
        step_failures=[],
        rounds=0,
        reflected=False,
        finish=False,
        version=1,
        opened_by=None,
        outline=[],
        verified=False,
        excluded=[],
        pinned=[],
        deny_domains=list(wanted["deny_domains"]),
    )


def check_schema(state: Mapping[str, Any]) -> None:
    """Raises `StateTooNew` for a checkpoint this release cannot go on with."""
    found = int(state.get("schema_version", SCHEMA_VERSION))
    if found > SCHEMA_VERSION:
        raise StateTooNew(found, SCHEMA_VERSION)
