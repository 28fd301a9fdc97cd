"""The outline of a version: which sections it has, in which order, and which to write next."""

from collections.abc import Mapping
from typing import Any, cast

from graph.state import Heading, Section, State, Step
from graph.text.phrases import phrase


def usable(state: State, step_id: str) -> bool:
    """Whether a step has evidence that is not excluded."""
    excluded = set(state.get("excluded", ()))
    return any(span["n"] not in excluded for span in state.get("evidence", {}).get(step_id, ()))


def has_evidence(state: Mapping[str, Any]) -> bool:
    """Whether a report could be written from what was read so far."""
    known = cast("State", state)
    return any(usable(known, step_id) for step_id in known.get("evidence", {}))


def reported(state: State, step: Step) -> bool:
    """Whether a step has something to say. Read but not analysed counts: evidence speaks."""
    return step["status"] in ("analysed", "read") and usable(state, step["id"])


def outline(state: State) -> list[Heading]:
    """The outline as it should be now. Within a version it only grows: an index that a reader
    has seen stays what it was, save that the last section moves down."""
    language = state["language"]
    kept = [h for h in state.get("outline", ()) if h["kind"] == "step"]
    known = {heading["step"] for heading in kept}
    kept += [
        Heading(kind="step", step=step["id"], title=step["title"])
        for step in state["plan"]
        if step["id"] not in known and reported(state, step)
    ]
    top = [Heading(kind="summary", step=None, title=phrase(language, "summary"))] if kept else []
    return [*top, *kept, Heading(kind="honesty", step=None, title=phrase(language, "honesty"))]


def fits(section: Section | None, heading: Heading) -> bool:
    """Whether a written section is the one that the outline has in its place."""
    return (
        section is not None
        and section["kind"] == heading["kind"]
        and section["step"] == heading["step"]
    )


def next_index(state: State) -> int | None:
    """Index of the next section to write; None when all are."""
    sections = state.get("sections", {})
    for index, heading in enumerate(outline(state)):
        if not fits(sections.get(str(index)), heading):
            return index
    return None


def in_order(state: State) -> list[Section]:
    """The sections written so far, by index."""
    sections = state.get("sections", {})
    return [sections[key] for key in sorted(sections, key=int)]
