"""Streams: the open event streams of this process, each with an end that is known.

A stream ends by itself at the end of its thread, at its age limit, when the process closes
all of them for a shutdown, or when a store is down; all but the first with a `retry:` line, so
that the reader comes back with its cursor.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import structlog

from registry.errors import BusDown, StoreDown

RETRY_MS: Final = 1000

log = structlog.get_logger(__name__)


class Streams:
    def __init__(self, *, max_seconds: float) -> None:
        self._max_seconds = max_seconds
        self._scopes: set[asyncio.Timeout] = set()
        self._closing = False
        self.open = 0
        self._none = asyncio.Event()
        self._none.set()

    async def bounded(self, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The stream, and a `retry:` line where it is cut. Closing it closes the stream.

        Each read is one timeout scope, entered and left within one step, so a cut never
        reaches into whoever sends the bytes on.
        """
        deadline = asyncio.get_running_loop().time() + self._max_seconds
        self.open += 1
        self._none.clear()
        try:
            while not self._closing:
                item = await self._read(stream, deadline)
                if item is None:
                    return
                if item == b"":
                    break
                yield item
            yield b"retry: %d\n\n" % RETRY_MS
        finally:
            self.open -= 1
            if self.open == 0:
                self._none.set()
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def _read(self, stream: AsyncIterator[bytes], deadline: float) -> bytes | None:
        """The next bytes; empty where time was up or a store is down, None at the end."""
        scope = asyncio.timeout_at(deadline)
        try:
            async with scope:
                self._scopes.add(scope)
                try:
                    return await anext(stream)
                finally:
                    self._scopes.discard(scope)
        except StopAsyncIteration:
            return None
        except (BusDown, StoreDown) as error:
            log.warning("stream_cut", reason=error.reason)
            return b""
        except TimeoutError:
            if not scope.expired():
                raise
            return b""

    async def close_all(self, timeout: float) -> bool:
        """Ends every stream with its `retry:` line; True once all of them are closed."""
        self._closing = True
        now = asyncio.get_running_loop().time()
        for scope in list(self._scopes):
            if not scope.expired():
                scope.reschedule(now)
        try:
            async with asyncio.timeout(timeout):
                await self._none.wait()
        except TimeoutError:
            return False
        return True
