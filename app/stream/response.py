"""The response that carries events: bytes passed through, a comment at once, our own beats.

Invariants:
1. The first bytes leave before anything is waited for, so that no proxy holds the headers.
2. A reader that reads nothing for `send_timeout` seconds is cut off; the run never notices.
   Every message is timed, the first and the last too: the library's own limit is not.
3. No database connection is held: the frames come from `Follower`, which holds a cursor.
4. Ends are ours: sse-starlette's own ping and its drain at shutdown are off.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import structlog
from sse_starlette.sse import AppStatus, EventSourceResponse
from starlette.types import Message, Receive, Scope, Send

from app.stream.streams import RETRY_MS
from registry.heartbeat import Beat, with_heartbeat

log = structlog.get_logger()

# Said once per process, before any response is made: the server's drain ends the streams.
AppStatus.disable_automatic_graceful_drain()

OPENING: Final = b": open\nretry: %d\n\n" % RETRY_MS
PING: Final = b": ping\n\n"
HEADERS: Final = {
    "Cache-Control": "no-cache, no-transform",
    "Content-Type": "text/event-stream; charset=utf-8",
}


async def beating(frames: AsyncIterator[bytes], interval: float) -> AsyncIterator[bytes]:
    """The opening comment at once, then frames, with a ping for each interval of silence."""
    beats = with_heartbeat(frames, interval)
    try:
        yield OPENING
        async for item in beats:
            yield PING if isinstance(item, Beat) else item
    finally:
        await close(beats)


async def close(stream: AsyncIterator[Any]) -> None:
    """Closes an async generator; other iterators have nothing to close."""
    closing = getattr(stream, "aclose", None)
    if closing is not None:
        await closing()


class ReaderStalled(Exception):
    """The reader took no bytes for too long."""


class EventStream(EventSourceResponse):
    def __init__(
        self,
        frames: AsyncIterator[bytes],
        *,
        heartbeat: float,
        send_timeout: float,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.frames = frames
        super().__init__(
            beating(frames, heartbeat),
            headers={**HEADERS, **(headers or {})},
            ping=0,
            sep="\n",
        )
        self._limit = send_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def timed(message: Message) -> None:
            limit = asyncio.timeout(self._limit)
            try:
                async with limit:
                    await send(message)
            except TimeoutError:
                if limit.expired():
                    raise ReaderStalled from None
                raise

        try:
            await super().__call__(scope, receive, timed)
        except ReaderStalled:
            log.info("reader_stalled")
            abort: Callable[[], None] | None = scope.get("extensions", {}).get("abort")
            if abort is None:
                raise
            abort()  # closing would wait for the very reader that does not read
            await asyncio.sleep(0)  # lets the server see that the connection is gone
