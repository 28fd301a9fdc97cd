"""The section on the report's limits. Code writes it from the state, never a model."""

from collections.abc import Callable
from typing import Final

from graph.outline import has_evidence, in_order
from graph.state import State
from graph.text.phrases import listed, phrase

_SHOWN: Final = 3  # failures told one by one; the rest are counted
_TITLE: Final = 160
Say = Callable[..., str]


def honesty(state: State) -> list[str]:
    """One line per limit, in the report's language; one good line where there is none."""
    language = state["language"]

    def say(name: str, **values: object) -> str:
        return phrase(language, name, **values)

    lines = [say("nothing_found")] if not has_evidence(state) else []
    lines += _steps(state, say) + _searches(state, say) + _documents(state, say)
    excluded = [state["sources"][str(n)]["title"] for n in state.get("excluded", ())]
    if excluded:
        lines.append(say("excluded", titles=listed(language, excluded)))
    removed = sum(
        sentence["verdict"] == "removed" and not sentence.get("reason", "").startswith("repeats")
        for section in in_order(state)
        for sentence in section["sentences"]
    )
    if removed:
        lines.append(say("removed", count=removed))
    return lines or [say("all_well")]


def partial(state: State) -> bool:
    """Whether something of the plan is missing from the report."""
    failed = any(r["failed"] and r["provider"] != "none" for r in state.get("searches", ()))
    unread = any(c["pending"] for c in state.get("coverage", {}).values())
    steps = any(step["status"] != "analysed" for step in state["plan"])
    nothing = phrase(state["language"], "empty_section")
    empty = any(section["markdown"] == nothing for section in in_order(state))
    return not has_evidence(state) or failed or unread or steps or empty


def _steps(state: State, say: Say) -> list[str]:
    language = state["language"]
    failures = {f["step"]: f["reason"] for f in state.get("step_failures", ())}
    titles = {step["id"]: _cut(step["title"]) for step in state["plan"]}
    gaps = [s["id"] for s in state["plan"] if s["status"] == "gap" and s["id"] not in failures]
    early = [s["id"] for s in state["plan"] if s["status"] == "planned"]
    out: list[str] = []
    if gaps:
        out.append(say("no_evidence", titles=listed(language, [titles[i] for i in gaps])))
    if early:
        out.append(say("not_researched", titles=listed(language, [titles[i] for i in early])))
    out += [
        say("step_failed", title=titles[step], reason=reason)
        for step, reason in failures.items()
        if step in titles
    ]
    told = {titles[i] for i in gaps}
    questions = [q for q in map(_cut, state.get("open_questions", ())) if q not in told]
    if questions:
        out.append(say("open_questions", questions=listed(language, questions)))
    return out


def _searches(state: State, say: Say) -> list[str]:
    records = state.get("searches", ())
    out: list[str] = []
    if state["request"]["web"] and any(r["provider"] == "none" for r in records):
        out.append(say("no_provider"))
    failed = [r for r in records if r["failed"] and r["provider"] != "none"]
    out += [
        say("search_failed", provider=r["provider"], reason=r["failed"], query=_cut(r["query"]))
        for r in failed[:_SHOWN]
    ]
    if len(failed) > _SHOWN:
        out.append(say("searches_failed", count=len(failed) - _SHOWN))
    pages = state.get("page_failures", ())
    out += [say("page_failed", url=p["url"], reason=p["reason"]) for p in pages[:_SHOWN]]
    if len(pages) > _SHOWN:
        out.append(say("pages_failed", count=len(pages) - _SHOWN))
    return out


def _documents(state: State, say: Say) -> list[str]:
    steps = {step["id"] for step in state["plan"]}
    counts = [c for step, c in state.get("coverage", {}).items() if step in steps]
    if not counts or not state["request"]["documents"]:
        return []
    worst = max(counts, key=lambda c: c["pending"])
    total = f"{worst['indexed'] + worst['pending'] + worst['failed']:,}"
    out: list[str] = []
    if total == "0":
        out.append(say("no_documents"))
    if worst["pending"]:
        out.append(say("pending", pending=f"{worst['pending']:,}", total=total))
    if worst["failed"]:
        out.append(say("unreadable", failed=f"{worst['failed']:,}", total=total))
    return out


def _cut(text: str) -> str:
    return text if len(text) <= _TITLE else text[: _TITLE - 1].rstrip() + "…"
