"""review: waits for the reader's word on the plan, and does nothing else before it came."""

from langgraph.types import interrupt

from graph.context import Context
from graph.limits import estimate
from graph.nodes.node import Update
from graph.nodes.plan import next_number
from graph.state import State, Step


async def review(state: State, ctx: Context) -> Update:
    steps = state["plan"]
    payload = {"steps": steps, "estimate": estimate(steps, state["request"]["depth"], ctx)}
    answer = interrupt({"kind": "review_plan", "payload": payload})
    if answer["action"] == "revise":
        return {"feedback": answer["feedback"]}
    if answer["action"] == "edit":
        steps = _edited(state, answer["steps"])
        ctx.sink.emit("plan", {"steps": steps})
        return {"plan": steps, "approved": True}
    return {"approved": True}


def _edited(state: State, wanted: list[dict[str, object]]) -> list[Step]:
    """The reader's steps: known ids stay, new steps get new ones."""
    number = next_number(state)
    out: list[Step] = []
    for item in wanted:
        known = item.get("id")
        queries = item["queries"]
        out.append(
            Step(
                id=str(known or f"s{number}"),
                title=str(item["title"]),
                intent=str(item["intent"]),
                queries=[str(q) for q in queries] if isinstance(queries, list) else [],
                status="planned",
            )
        )
        number += known is None
    return out
