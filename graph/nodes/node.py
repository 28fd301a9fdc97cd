"""What every node has around its work: its two events, and the cursor its values reflect."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from langgraph.runtime import Runtime

from graph.context import Context
from graph.start import check_schema
from graph.state import Branch, State

Update = dict[str, Any]
Work = Callable[[State, Context], Awaitable[Update]]
BranchWork = Callable[[Branch, Context], Awaitable[Update]]


def node(
    name: str, work: Work, step: Callable[[State], str | None] = lambda _: None
) -> Callable[[State, Runtime[Context]], Awaitable[Update]]:
    """The node function. `step` names the step that a node works on, for its events.

    An exception leaves no `node.finished`; the node runs again from the same state.
    """

    async def run(state: State, runtime: Runtime[Context]) -> Update:
        check_schema(state)
        ctx = runtime.context
        update = await _framed(name, step(state), ctx, lambda: work(state, ctx))
        return {**update, "cursor": ctx.sink.cursor()}

    return run


def branch_node(
    name: str, work: BranchWork
) -> Callable[[State, Runtime[Context]], Awaitable[Update]]:
    """A node of a fan-out: it sees what its `Send` carries, not the state.

    It leaves the cursor where it is: an event before its end may be of a sibling whose values
    are not there yet. To see events again that the values hold does no harm.
    """

    async def run(state: State, runtime: Runtime[Context]) -> Update:
        part = cast("Branch", cast("object", state))
        ctx = runtime.context
        return await _framed(name, part["step"]["id"], ctx, lambda: work(part, ctx))

    return run


async def _framed(
    name: str, step: str | None, ctx: Context, work: Callable[[], Awaitable[Update]]
) -> Update:
    about: Mapping[str, Any] = {"node": name} if step is None else {"node": name, "step": step}
    ctx.sink.emit("node.started", about)
    began = time.perf_counter()
    update = await work()
    ctx.sink.emit("node.finished", {**about, "ms": round((time.perf_counter() - began) * 1000, 1)})
    return update
