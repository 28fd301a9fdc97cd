"""The state as the outside sees it: `values` of a thread, and its report as JSON."""

from collections.abc import Mapping
from typing import Any, cast

from graph.outline import in_order
from graph.state import Report, Section, Source, State


def values(state: Mapping[str, Any]) -> dict[str, Any]:
    """What a page needs to redraw a thread from nothing; empty parts where nothing is yet.

    `sections` and `draft` are those of the version being written, else of the last one.
    """
    known = cast("State", state)
    sections = in_order(known)
    return {
        "title": known.get("title", ""),
        "language": known.get("language", ""),
        "clarification": known.get("clarification"),
        "plan": known.get("plan", []),
        "sources": [printed_source(s) for s in _by_n(known)],
        "searches": known.get("searches", []),
        "page_failures": known.get("page_failures", []),
        "findings": known.get("findings", []),
        "open_questions": known.get("open_questions", []),
        "version": known.get("version", 1),
        "sections": [printed(section) for section in sections],
        "draft": markdown(sections),
        "versions": [
            {
                "version": r["version"],
                "ts": r["ts"],
                "run_id": r["run_id"],
                "requirement_id": r["requirement_id"],
                "sections_changed": r["sections_changed"],
                "partial": r["partial"],
            }
            for r in _versions(known)
        ],
        "requirements": known.get("requirements", []),
        "excluded": known.get("excluded", []),
        "pinned": known.get("pinned", []),
    }


def report(state: Mapping[str, Any], version: int | None = None) -> dict[str, Any] | None:
    """One version of the report (the last where none is named), or None."""
    found = _versions(cast("State", state))
    if version is not None:
        found = [item for item in found if item["version"] == version]
    if not found:
        return None
    chosen = found[-1]
    return {
        "version": chosen["version"],
        "title": chosen["title"],
        "language": chosen["language"],
        "partial": chosen["partial"],
        "sections": [printed(section) for section in chosen["sections"]],
        "sources": chosen["sources"],
    }


def printed(section: Section) -> dict[str, Any]:
    """A section as the `section` event has it, without its version."""
    return {
        "index": section["index"],
        "title": section["title"],
        "markdown": section["markdown"],
        "citations": section["citations"],
        "sentences": section["sentences"],
    }


def printed_source(source: Source) -> dict[str, Any]:
    """A source as the `source` event has it."""
    return {
        "n": source["n"],
        "url": source["url"],
        "title": source["title"],
        "date": source["date"],
        "kind": source["kind"],
    }


def markdown(sections: list[Section]) -> str:
    """The sections as one Markdown text, each under its heading."""
    return "\n\n".join(f"## {s['title']}\n\n{s['markdown']}" for s in sections if s["markdown"])


def _by_n(state: State) -> list[Source]:
    sources = state.get("sources", {})
    return [sources[key] for key in sorted(sources, key=int)]


def _versions(state: State) -> list[Report]:
    reports = state.get("reports", {})
    return [reports[key] for key in sorted(reports, key=int)]
