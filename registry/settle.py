"""`settle`: run a piece of work to its end, and only then let a cancel go on.

A cancel that arrives in the middle of a database call must neither leave the connection
half way nor be lost. On Python 3.11 both happened: the pool waits with
`asyncio.wait_for`, which drops a cancel that comes in the same tick as its result. So each
call runs in a task of its own that nobody cancels; the caller waits for its end and then
passes the CancelledError on. The work must be bounded by its own timeouts.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def settle(work: Coroutine[Any, Any, T], hurry: Callable[[], None] | None = None) -> T:
    """The work's result or error; after a cancel: its end first, then CancelledError.

    `hurry` is called at the cancel: whoever knows a shorter way to the end can take it.
    """
    task = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.done():
            if hurry is not None:
                hurry()
            await outlast(task)
        if not task.cancelled():
            task.exception()  # retrieved: the caller learns of the cancel, not of this
        raise


async def outlast(task: asyncio.Future[Any]) -> None:
    """Returns when the task is done, through any number of further cancels.

    Only for a caller that raises CancelledError afterwards, or that is itself the last
    step of a cancelled run.
    """
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
