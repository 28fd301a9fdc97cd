"""`with_heartbeat`: an item of the stream, or a beat when it has been silent for a while.

Invariants:
1. Time passing never cancels the pending read: it is watched with `asyncio.wait`, so a
   read that takes ten intervals is the same read throughout.
2. A cancel ends the pending read first: it is cancelled, awaited, then re-raised.
3. Closing the generator closes the stream.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final, TypeVar

from registry.settle import outlast

T = TypeVar("T")


class Beat:
    """What `with_heartbeat` yields for an interval of silence."""


BEAT: Final = Beat()


async def with_heartbeat(stream: AsyncIterator[T], interval: float) -> AsyncGenerator[T | Beat]:
    """Items of `stream` in order, with `BEAT` after each `interval` seconds of silence."""
    pending: asyncio.Task[T | _End] | None = None
    try:
        while True:
            pending = asyncio.get_running_loop().create_task(_next(stream))
            while not pending.done():
                done, _ = await asyncio.wait({pending}, timeout=interval)
                if not done:
                    yield BEAT
            item = pending.result()
            pending = None
            if isinstance(item, _End):
                return
            yield item
    finally:
        if pending is not None and not pending.done():
            pending.cancel()
            await outlast(pending)
        if pending is not None and not pending.cancelled():
            pending.exception()  # retrieved, so that nothing warns of it later
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


class _End:
    """The stream's end, as a value: a task cannot carry StopAsyncIteration."""


async def _next(stream: AsyncIterator[T]) -> T | _End:
    try:
        return await anext(stream)
    except StopAsyncIteration:
        return _End()
