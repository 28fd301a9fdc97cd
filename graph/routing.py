"""Where a thread goes next: one pure function of its state, used after every node.

So a new wish, an early finish or a resume needs no edge of its own: whatever changed the
state, the next node follows from it.
"""

from typing import Final, Literal

from langgraph.graph import END
from langgraph.types import Send

from graph.outline import has_evidence, next_index
from graph.requirements import AMEND, waiting
from graph.state import Branch, State

INTENT: Final = "intent"
CLARIFY: Final = "clarify"
SCOPE: Final = "scope"
PLAN: Final = "plan"
REVIEW: Final = "review"
RETRIEVE: Final = "retrieve"
READ: Final = "read"
ANALYSE: Final = "analyse"
REFLECT: Final = "reflect"
WRITE: Final = "write"
VERIFY: Final = "verify"
FINISH: Final = "finish"

# What may follow each node. Once a plan is approved, a wish or an early finish may lead from
# anywhere to anywhere, so the later nodes are open to each other.
_BEFORE: Final[dict[str, list[str]]] = {
    INTENT: [CLARIFY, SCOPE],
    CLARIFY: [SCOPE],
    SCOPE: [PLAN],
}
_LATER: Final = (AMEND, RETRIEVE, READ, ANALYSE, REFLECT, WRITE, VERIFY, FINISH)
NEXT: Final[dict[str, list[str]]] = {
    **_BEFORE,
    PLAN: [REVIEW, *_LATER, END],
    REVIEW: [PLAN, *_LATER, END],
    **{node: [*_LATER, END] for node in _LATER},
}


def onward(state: State) -> str | list[Send]:
    """The next node, or the fan-out of the next superstep."""
    before = _before_research(state)
    if before:
        return before
    if waiting(state):
        return AMEND
    return _research(state) or _writing(state)


def _before_research(state: State) -> str | None:
    clarification = state.get("clarification")
    if clarification and clarification.get("answer") is None:
        return CLARIFY
    if state.get("scope") is None:
        return SCOPE
    if not state["plan"] or state.get("feedback"):
        return PLAN
    return None if state["approved"] else REVIEW


def _research(state: State) -> str | list[Send] | None:
    """None when nothing is left to find out, or the reader wants to read what there is."""
    if state.get("found"):
        return READ
    if state.get("finish") and has_evidence(state):
        return None
    sends = fan_out(state)
    if sends:
        return sends
    if any(step["status"] == "read" for step in state["plan"]):
        return ANALYSE
    return None if state.get("reflected") else REFLECT


def _writing(state: State) -> str:
    if str(state["version"]) in state.get("reports", {}):
        return END
    if next_index(state) is not None:
        return WRITE
    return FINISH if state.get("verified") else VERIFY


def fan_out(state: State) -> list[Send]:
    """One branch per planned step and channel."""
    return [
        Send(
            RETRIEVE,
            Branch(
                owner=state["owner"],
                step=step,
                channel=channel,
                request=state["request"],
                deny_domains=state.get("deny_domains", []),
            ),
        )
        for step in state["plan"]
        if step["status"] == "planned"
        for channel in channels(state)
    ]


def channels(state: State) -> list[Literal["documents", "web"]]:
    """Where to look: the documents first. A web that has no provider is looked at once."""
    request = state["request"]
    no_web = any(record["provider"] == "none" for record in state.get("searches", ()))
    wanted: list[Literal["documents", "web"]] = ["documents"] if request["documents"] else []
    if request["web"] and (not no_web or not wanted):
        wanted.append("web")
    return wanted
