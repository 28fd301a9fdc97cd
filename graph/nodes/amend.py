"""amend: applies wishes that came during or after the research, and opens a new version when
the last one is finished. It only marks what has to be done again; the other nodes do it."""

from collections.abc import Mapping
from typing import Any, cast

from graph.citations import Numbering
from graph.context import Context
from graph.evidence import ask_of, findings_of, step_plan
from graph.limits import limits
from graph.nodes.kept import renumbered
from graph.nodes.node import Update
from graph.nodes.plan import next_number, numbered
from graph.nodes.wishes import announce_applied, apply_lists
from graph.outline import in_order, usable
from graph.ports import ModelFailed
from graph.reasoner import StepPlan
from graph.requirements import AMEND, waiting
from graph.state import Heading, Requirement, Section, State, Step
from graph.text.clean import one_line
from graph.values import printed


async def amend(state: State, ctx: Context) -> Update:
    wishes = waiting(state)
    if not wishes:  # delivered again after it was applied
        return {}
    opens = str(state["version"]) in state.get("reports", {})
    version = state["version"] + opens
    lists = apply_lists(state, wishes)
    after = cast("State", {**state, **lists})
    moved = _Moved(state, after)
    asked = await _asked_steps(state, ctx, wishes)
    steps = [moved.step(step) for step in state["plan"]] + asked
    stale = [section for section in in_order(state) if moved.touches(section)]
    headings = [
        heading
        for heading in state.get("outline", [])
        if not opens or heading["kind"] != "step" or usable(after, str(heading["step"]))
    ]
    kept = [section for section in in_order(state) if section not in stale]
    sections = _carried(kept, headings) if opens else {str(s["index"]): s for s in kept}
    touched = _places(stale, headings)
    for wish in wishes:
        new = len(headings) - 1 if wish["message"] and headings else None
        places = touched if new is None else [*touched, new]
        announce_applied(ctx, wish, AMEND, version=version, sections=places)
    if steps != state["plan"]:
        ctx.sink.emit("plan", {"steps": steps})
    for shown in sections.values() if opens else [_emptied(section) for section in stale]:
        ctx.sink.emit("section", {"version": version, **printed(shown)})
    update: Update = {
        **lists,
        "requirements": [{**wish, "status": "applied"} for wish in wishes],
        "plan": steps,
        "version": version,
        "outline": headings,
        "sections": {**dict.fromkeys(state.get("sections", {})), **sections},
        "verified": False,
        "rejected": None,
        "reflected": False,
    }
    if opens:
        update |= {"opened_by": wishes[0]["id"], "finish": False}
    if headings:  # what was written is settled: only what was asked for is researched
        update["rounds"] = limits(state["request"]["depth"]).rounds
    return update


class _Moved:
    """What the reader's new lists change: sources that went, and sources that gained."""

    def __init__(self, before: State, after: State) -> None:
        old, new = set(before.get("excluded", ())), set(after.get("excluded", ()))
        pins = set(after.get("pinned", ())) - set(before.get("pinned", ()))
        self._out = new - old
        self._gained = (old - new) | pins
        self._before = before
        self._after = after

    def step(self, step: Step) -> Step:
        """A step whose findings are no longer right is analysed again; one that has no
        evidence left is a gap."""
        if step["status"] not in ("analysed", "gap"):
            return step
        if not usable(self._after, step["id"]):
            return {**step, "status": "gap"}
        ids = [step["id"]]
        lost = len(findings_of(self._after, ids)) < len(findings_of(self._before, ids))
        return {**step, "status": "read"} if lost or self._gains(step["id"]) else step

    def touches(self, section: Section) -> bool:
        """Whether a section leaned on what went, or may lean on what gained."""
        if any(citation["n"] in self._out for citation in section["citations"]):
            return True
        if section["kind"] == "honesty":
            return False
        ids = [section["step"]] if section["step"] else list(self._after.get("evidence", {}))
        return any(self._gains(step_id) for step_id in ids)

    def _gains(self, step_id: str) -> bool:
        spans = self._after.get("evidence", {}).get(step_id, ())
        return any(span["n"] in self._gained for span in spans)


async def _asked_steps(state: State, ctx: Context, wishes: list[Requirement]) -> list[Step]:
    """A step for each wish in words; the reasoner words it, else the reader's words stand."""
    made: list[StepPlan] = []
    known = [step_plan(step) for step in state["plan"]]
    for wish in wishes:
        message = wish["message"]
        if not message:
            continue
        fallback = StepPlan(title=one_line(message, 300), intent=message, queries=(message,))
        try:
            found = await ctx.reasoner.reflect(ask_of(state), [*known, *made], [message])
        except ModelFailed:
            found = ()
        made.append(found[0] if found else fallback)
    return numbered(made, state, first=next_number(state))


def _carried(kept: list[Section], headings: list[Heading]) -> dict[str, Section]:
    """What a new version takes over: all but the section on limits, which code writes anew."""
    numbers = Numbering()
    out: dict[str, Section] = {}
    for index, heading in enumerate(headings):
        for section in kept:
            same = (section["kind"], section["step"]) == (heading["kind"], heading["step"])
            if same and heading["kind"] != "honesty":
                out[str(index)] = renumbered(section, index, numbers)
    return out


def _emptied(section: Section) -> Section:
    return {**section, "markdown": "", "citations": [], "sentences": []}


def _places(stale: list[Section], headings: list[Heading]) -> list[int]:
    """Indices, in the outline as it is now, of the sections to be written again."""
    gone: list[Mapping[str, Any]] = [{"kind": s["kind"], "step": s["step"]} for s in stale]
    return [
        index
        for index, heading in enumerate(headings)
        if {"kind": heading["kind"], "step": heading["step"]} in gone
    ]
