"""plan: the steps. A revision takes the reader's words in; so does a wish that came early."""

from collections.abc import Sequence

from graph.context import Context
from graph.evidence import ask_of, passage_of, step_plan, texts
from graph.limits import limits
from graph.nodes.node import Update
from graph.nodes.wishes import announce_applied, apply_lists
from graph.ports import Passage, Ref
from graph.reasoner import StepPlan
from graph.requirements import waiting
from graph.routing import PLAN
from graph.state import State, Step
from graph.text.clean import clean, one_line

_TITLE: int = 300
_INTENT: int = 1_000
_MOST: int = 12


async def plan(state: State, ctx: Context) -> Update:
    early = waiting(state)
    previous = [step_plan(step) for step in state["plan"]]
    made = await ctx.reasoner.plan(
        ask_of(state),
        await _looked_at(state, ctx),
        previous=previous,
        feedback=state.get("feedback"),
    )
    steps = numbered(list(made)[:_MOST] or [_fallback(state)], state, first=1)
    for requirement in early:
        announce_applied(ctx, requirement, PLAN, version=state["version"], sections=[])
    ctx.sink.emit("plan", {"steps": steps})
    return {
        **apply_lists(state, early),
        "plan": steps,
        "feedback": None,
        "approved": not state["request"]["review_plan"],
        "requirements": [{**requirement, "status": "applied"} for requirement in early],
    }


def numbered(made: Sequence[StepPlan], state: State, *, first: int) -> list[Step]:
    """Steps with ids s<first>, s<first+1>, ... and no more queries than the depth allows."""
    most = limits(state["request"]["depth"]).queries
    return [
        Step(
            id=f"s{number}",
            title=one_line(clean(step.title), _TITLE) or one_line(state["question"], _TITLE),
            intent=one_line(clean(step.intent), _INTENT),
            queries=[q for q in (one_line(clean(q)) for q in step.queries) if q][:most]
            or [one_line(clean(step.title)) or one_line(state["question"])],
            status="planned",
        )
        for number, step in enumerate(made, first)
    ]


def next_number(state: State) -> int:
    """The first step number not used yet, by a step or by evidence of a step that was cut."""
    used = [step["id"] for step in state["plan"]] + list(state.get("evidence", {}))
    return 1 + max((int(i[1:]) for i in used if i[1:].isdecimal()), default=0)


async def _looked_at(state: State, ctx: Context) -> list[Passage]:
    """The passages of the first look, with their text; of the web only titles are known."""
    hits = state.get("scope") or []
    refs = [Ref(hit["key"], hit["start"], hit["end"]) for hit in hits if hit["key"]]
    found = iter(await texts(ctx.library, refs))
    return [passage_of(hit, *(next(found) if hit["key"] else (hit["title"], ""))) for hit in hits]


def _fallback(state: State) -> StepPlan:
    question = state["question"]
    return StepPlan(title=question, intent=question, queries=(question,))
