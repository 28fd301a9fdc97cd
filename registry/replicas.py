"""Replicas: copies of what other workers write, for the readers of this one.

A reader follows a thread log in memory, whoever writes it. Where that is another worker, the
log is filled from the thread's Redis Stream (`registry.mirror`): all of it when the first
reader joins, then by one loop that reads the streams of all joined threads at once. What
came twice is cut off by its number; what is missing moves the copy's start, so that readers
see a gap. With the last reader the copy goes.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from registry.channel import Channel, ThreadLog
from registry.errors import BusDown
from registry.events import ENDING, EventId
from registry.loops import Loop
from registry.mirror import CLOSED, stream_key
from registry.redis_client import FAILURES, Client, reason_of

BLOCK_MS: Final = 50  # how long a read waits, and so how soon a new reader is part of it
PAGE: Final = 500  # entries of one read
IDLE: Final = 5.0  # seconds a pass waits where nobody reads
ENDINGS: Final = tuple(f"event: {name}\n".encode() for name in sorted(ENDING))
BOUNDARY: Final = b"\n\n"


class Replica(Channel):
    """A channel that is filled from outside, in batches of frames."""

    replica = True

    def extend(self, first: int, last: int, data: bytes) -> None:
        """Adds events `first` to `last`; what is here already is left out."""
        held = self._dropped + len(self._frames)
        if last <= held:
            return
        frames = [frame + BOUNDARY for frame in data.split(BOUNDARY)[:-1]]
        if len(frames) != last - first + 1:
            return  # not what a mirror writes: readers see a gap
        if first > held + 1:
            self._hole(first - 1)
        fresh = frames[max(held + 1 - first, 0) :]
        self._frames += fresh
        self._bytes += sum(map(len, fresh))
        self._ending = any(ending in fresh[-1] for ending in ENDINGS)
        if self._bytes > self._cap:
            self._drop_oldest()

    def finish(self, last: int, at: float) -> None:
        """Its writer has closed it after event `last`."""
        if last > self._dropped + len(self._frames):
            self._hole(last)
        self.closed_at = at

    def _hole(self, upto: int) -> None:
        self._frames.clear()
        self._bytes, self._dropped = 0, upto


@dataclass(slots=True)
class _Joined:
    log: ThreadLog
    cursor: str = "0-0"  # id of the last entry that was read
    readers: int = 0
    loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    loaded: bool = False


class Replicas:
    def __init__(self, client: Client, *, prefix: str, cap: int) -> None:
        self.loop = Loop("tailer", 0, self.tail)
        self.healthy = True  # the last read of a stream went well
        self._client = client
        self._prefix = prefix
        self._cap = cap
        self._joined: dict[str, _Joined] = {}
        self._some = asyncio.Event()

    async def join(self, log: ThreadLog) -> None:
        """Loads what Redis has of this thread and keeps it up to date until `leave`.

        Without Redis it returns all the same, with nothing loaded and `healthy` false.
        """
        key = stream_key(self._prefix, log.thread_id)
        joined = self._joined.setdefault(key, _Joined(log))
        joined.readers += 1
        async with joined.loading:
            if not joined.loaded:
                try:
                    await self._load(key, joined)
                    joined.loaded = self.healthy = True
                except FAILURES:
                    self.healthy = False
        self._some.set()

    async def _load(self, key: str, joined: _Joined) -> None:
        while True:
            start = "-" if joined.cursor == "0-0" else f"({joined.cursor}"
            page: Any = await self._client.xrange(key, start, "+", count=PAGE)
            self._absorb(joined, page)
            if len(page) < PAGE:
                return

    def leave(self, log: ThreadLog) -> None:
        key = stream_key(self._prefix, log.thread_id)
        joined = self._joined.get(key)
        if joined is None:
            return
        joined.readers -= 1
        if joined.readers == 0:
            del self._joined[key]
            log.channels = [c for c in log.channels if not c.replica]

    async def oldest(self, thread_id: UUID) -> EventId | None:
        """The oldest event that Redis still has; None where it has none, or cannot tell."""
        try:
            found: Any = await self._client.xrange(stream_key(self._prefix, thread_id), count=1)
        except FAILURES:
            return None
        if not found or b"n" not in found[0][1]:
            return None
        epoch = int(found[0][0].decode().partition("-")[0])
        return EventId(epoch, int(found[0][1][b"n"]))

    async def tail(self) -> None:
        """One pass: reads what is new in all joined streams."""
        if not self._joined:
            self._some.clear()
            try:
                async with asyncio.timeout(IDLE):
                    await self._some.wait()
            except TimeoutError:
                return
        for key, joined in list(self._joined.items()):
            if not joined.loaded and not joined.loading.locked():  # Redis was away then
                async with joined.loading:
                    await self._attempt(self._load(key, joined))
                    joined.loaded = True
                joined.log.wake()
        reading = {key: joined for key, joined in self._joined.items() if joined.loaded}
        if not reading:
            await asyncio.sleep(BLOCK_MS / 1000)
            return
        cursors: Any = {key: joined.cursor for key, joined in reading.items()}
        read = self._client.xread(cursors, count=PAGE, block=BLOCK_MS)
        reply: Any = await self._attempt(read)
        for raw, entries in reply or []:
            key = raw.decode()
            # Left and joined again meanwhile: the new copy is loading from its own start.
            if self._joined.get(key) is reading[key]:
                self._absorb(reading[key], entries)

    async def _attempt(self, call: Any) -> Any:
        try:
            found = await call
        except FAILURES as error:
            self.healthy = False
            raise BusDown(reason_of(error)) from error
        self.healthy = True
        return found

    def _absorb(self, joined: _Joined, entries: list[Any]) -> None:
        now = asyncio.get_running_loop().time()
        for raw_id, fields in entries:
            joined.cursor = raw_id.decode()
            epoch, _, seq = joined.cursor.partition("-")
            channel = joined.log.channel(int(epoch))
            if channel is None:
                channel = Replica(None, int(epoch), self._cap)
                joined.log.insert(channel)
            if not isinstance(channel, Replica):
                continue  # our own
            if int(seq) == CLOSED:
                channel.finish(int(fields[b"z"]), now)
            else:
                channel.extend(int(fields[b"n"]), int(seq), fields[b"d"])
        if entries:
            joined.log.wake()
