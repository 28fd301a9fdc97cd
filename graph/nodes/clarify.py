"""clarify: waits for the reader's answer to the question back, and does nothing else."""

from langgraph.types import interrupt

from graph.context import Context
from graph.nodes.node import Update
from graph.state import State


async def clarify(state: State, _: Context) -> Update:
    asked = state.get("clarification") or {}
    payload = {"question": asked["question"], "options": asked["options"]}
    answer = interrupt({"kind": "clarify", "payload": payload})
    return {"clarification": {**payload, "answer": answer["text"]}}
