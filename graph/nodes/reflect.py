"""reflect: further steps for open questions that are worth their cost; bounded by depth."""

from graph.context import Context
from graph.evidence import ask_of, step_plan
from graph.limits import limits
from graph.nodes.node import Update
from graph.nodes.plan import next_number, numbered
from graph.state import State

_MOST: int = 3  # steps that one round may add
_TOTAL: int = 12  # steps of a thread before reflection stops adding


async def reflect(state: State, ctx: Context) -> Update:
    rounds, steps = state.get("rounds", 0), state["plan"]
    room = min(_MOST, _TOTAL - len(steps))
    questions = state.get("open_questions", [])
    if rounds >= limits(state["request"]["depth"]).rounds or not questions or room <= 0:
        return {"reflected": True}
    wanted = await ctx.reasoner.reflect(
        ask_of(state), [step_plan(step) for step in steps], questions
    )
    known = {step["title"].casefold() for step in steps}
    made = [
        step
        for step in numbered(list(wanted)[:room], state, first=next_number(state))
        if step["title"].casefold() not in known
    ]
    if not made:
        return {"reflected": True, "rounds": rounds + 1}
    ctx.sink.emit("plan", {"steps": [*steps, *made]})
    return {"plan": [*steps, *made], "rounds": rounds + 1}
