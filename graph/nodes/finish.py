"""finish: publishes the version, or refuses one that its sources do not back."""

import re
from typing import Any, Final

from graph.context import Context
from graph.errors import unsupported_report
from graph.nodes.honesty import partial
from graph.nodes.node import Update
from graph.outline import in_order
from graph.requirements import waiting
from graph.state import Report, Section, State

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:[-'’.][^\W_]+)*")


async def finish(state: State, ctx: Context) -> Update:
    rejected = state.get("rejected")
    if rejected:
        if rejected["run_id"] == ctx.run_id:
            raise unsupported_report(rejected["survived"], rejected["total"])
        return _rewritten(state)  # the reader went on: this time it may come out better
    if waiting(state):  # came between verify and here: the version takes it in first
        return {}
    made = _report(state, ctx)
    ctx.sink.emit(
        "report",
        {
            "version": made["version"],
            "title": made["title"],
            "language": made["language"],
            "words": sum(len(_WORD.findall(s["markdown"])) for s in made["sections"]),
            "citations": sum(len(s["citations"]) for s in made["sections"]),
            "partial": made["partial"],
        },
    )
    return {"reports": {str(made["version"]): made}}


def _rewritten(state: State) -> Update:
    """Drops the sections that lost more than they kept."""
    bad = [
        key
        for key, section in state.get("sections", {}).items()
        if 2 * sum(s["verdict"] == "removed" for s in section["sentences"])
        > len(section["sentences"])
    ]
    return {"sections": dict.fromkeys(bad), "rejected": None, "verified": False}


def _report(state: State, ctx: Context) -> Report:
    sections = in_order(state)
    return Report(
        version=state["version"],
        ts=ctx.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        run_id=ctx.run_id,
        requirement_id=state.get("opened_by"),
        sections_changed=_changed(state, sections),
        title=state["title"],
        language=state["language"],
        partial=partial(state),
        sections=[{**section, "raw": ""} for section in sections],
        sources=_sources(state, sections),
    )


def _sources(state: State, sections: list[Section]) -> list[dict[str, Any]]:
    """The sources that are cited, as numbered in this version."""
    numbers = {c["number"]: c["n"] for s in sections for c in s["citations"]}
    out: list[dict[str, Any]] = []
    for number in sorted(numbers):
        source = state["sources"][str(numbers[number])]
        out.append(
            {
                "number": number,
                "n": source["n"],
                "url": source["url"],
                "title": source["title"],
                "date": source["date"],
            }
        )
    return out


def _changed(state: State, sections: list[Section]) -> list[int]:
    """Indices of sections that say something else than any of the version before, leaving
    aside their printed numbers."""
    last = state.get("reports", {}).get(str(state["version"] - 1))
    before = [_said(section) for section in last["sections"]] if last else []
    return [section["index"] for section in sections if _said(section) not in before]


def _said(section: Section) -> tuple[str, str, str]:
    sources = {c["number"]: c["n"] for c in section["citations"]}
    text = re.sub(
        r"\[(\d+)\]",
        lambda m: f"[S{sources[int(m[1])]}]" if int(m[1]) in sources else m[0],
        section["markdown"],
    )
    return section["kind"], section["title"], text
