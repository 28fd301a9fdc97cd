"""Paced streams: one ticker writes what is due on all of them."""

import asyncio
import time
from collections.abc import Sequence

TICK = 0.01
BUFFER_MAX = 65_536  # bytes unsent before an unpaced stream waits for its reader
BURST = 64  # frames an unpaced stream sends at once


class Stream:
    """One response. `done` is set when its last frame has been written."""

    def __init__(
        self,
        writer: asyncio.StreamWriter,
        frames: Sequence[bytes],
        rate: float,
        *,
        stop_at: int | None,
        comments: bool,
    ) -> None:
        self._writer, self._frames, self._rate = writer, frames, rate
        self._stop_at, self._comments = stop_at, comments
        self._start = self._last = time.monotonic()
        self._sent = 0
        self.done = asyncio.Event()

    def step(self, now: float) -> None:
        due = len(self._frames)
        if self._rate:
            due = min(due, 1 + int((now - self._start) * self._rate))
        elif self._writer.transport.get_write_buffer_size() > BUFFER_MAX:
            return
        else:
            due = min(due, self._sent + BURST)
        if self._stop_at is not None:
            due = min(due, self._stop_at)
        if due > self._sent:
            self._writer.write(b"".join(chunk(f) for f in self._frames[self._sent : due]))
            self._sent, self._last = due, now
        elif self._comments and now - self._last > 1:
            self._writer.write(chunk(b": keep-alive\n\n"))
            self._last = now
        if self._sent == len(self._frames):
            self.done.set()


class Ticker:
    """Steps every open stream a hundred times a second."""

    def __init__(self) -> None:
        self.streams: set[Stream] = set()

    async def run(self) -> None:
        while True:
            now = time.monotonic()
            for stream in list(self.streams):
                stream.step(now)
            await asyncio.sleep(TICK)


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked HTTP body."""
    return b"%x\r\n%b\r\n" % (len(data), data)
