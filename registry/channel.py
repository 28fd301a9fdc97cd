"""Channel: the append-only event buffer of one claim of a run. ThreadLog: those of a thread.

Invariants:
1. Within a channel sequence numbers are contiguous: position and id determine each other.
2. Frames are encoded once; followers share them and hold only a cursor.
3. Past the byte cap the oldest frames go. A reader who needed them gets a gap, and
   neither blocks the run nor grows its memory.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from registry.events import ENDING, Event, EventId

BATCH_BYTES: Final = 256 * 1024  # the most one write to a follower carries


@dataclass(frozen=True, slots=True)
class Batch:
    """Frames from `first` to `last`, joined. `ending`: the last one ends a run."""

    first: EventId
    last: EventId
    data: bytes
    ending: bool


class Channel:
    """Events `<epoch>-1`, `<epoch>-2`, … of one claim of a run."""

    replica = False  # a copy of what another worker writes: see `registry.replicas`

    def __init__(self, run_id: UUID | None, epoch: int, cap: int) -> None:
        self.run_id = run_id
        self.epoch = epoch
        self.closed_at: float | None = None  # loop time; None while its run is being written
        self._cap = cap
        self._frames: list[bytes] = []
        self._dropped = 0  # frames gone from the front
        self._bytes = 0
        self._ending = False

    @property
    def next_id(self) -> EventId:
        return EventId(self.epoch, self._dropped + len(self._frames) + 1)

    @property
    def first_id(self) -> EventId:
        """Id of the oldest frame still held."""
        return EventId(self.epoch, self._dropped + 1)

    @property
    def last_id(self) -> EventId:
        return EventId(self.epoch, self._dropped + len(self._frames))

    @property
    def ended(self) -> bool:
        """Its last event ends the run."""
        return self._ending

    @property
    def bytes_held(self) -> int:
        return self._bytes

    def append(self, event: Event) -> None:
        if event.id != self.next_id:
            raise ValueError(f"event {event.id} cannot follow {self.last_id}")
        self._frames.append(event.frame)
        self._bytes += len(event.frame)
        self._ending = event.name in ENDING
        if self._bytes > self._cap:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        # An eighth at a time: removing one by one would move the whole list each time.
        target, count = self._cap - self._cap // 8, 0
        while self._bytes > target and count < len(self._frames) - 1:
            self._bytes -= len(self._frames[count])
            count += 1
        del self._frames[:count]
        self._dropped += count

    def after(self, seq: int) -> Batch | None:
        """What stands after sequence number `seq`, up to a batch; None if nothing does."""
        start = max(seq - self._dropped, 0)
        if start >= len(self._frames):
            return None
        stop, size = start, 0
        while stop < len(self._frames) and size < BATCH_BYTES:
            size += len(self._frames[stop])
            stop += 1
        last = self._dropped + stop
        return Batch(
            first=EventId(self.epoch, self._dropped + start + 1),
            last=EventId(self.epoch, last),
            data=b"".join(self._frames[start:stop]),
            ending=self._ending and stop == len(self._frames),
        )


class ThreadLog:
    """The channels of one thread that are still in memory, oldest first, and who waits."""

    def __init__(self, thread_id: UUID) -> None:
        self.thread_id = thread_id
        self.channels: list[Channel] = []
        self.followers = 0
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def live(self) -> bool:
        """A run of this thread is being written by this process."""
        last = self.channels[-1] if self.channels else None
        return last is not None and last.closed_at is None and not last.replica

    @property
    def copying(self) -> bool:
        """A run of this thread is being written elsewhere and copied to here."""
        last = self.channels[-1] if self.channels else None
        return last is not None and last.closed_at is None and last.replica

    @property
    def last_id(self) -> EventId | None:
        return self.channels[-1].last_id if self.channels else None

    def channel(self, epoch: int) -> Channel | None:
        return next((c for c in self.channels if c.epoch == epoch), None)

    def open(self, run_id: UUID | None, epoch: int, cap: int) -> Channel:
        """A new last channel. Epochs only rise: an older one would break the order of ids."""
        if self.channels and self.channels[-1].epoch >= epoch:
            raise ValueError(f"epoch {epoch} is not above {self.channels[-1].epoch}")
        channel = Channel(run_id, epoch, cap)
        self.channels.append(channel)
        return channel

    def insert(self, channel: Channel) -> None:
        """Adds a channel where its epoch belongs; an epoch that is there already stays."""
        if self.channel(channel.epoch) is None:
            self.channels.append(channel)
            self.channels.sort(key=lambda c: c.epoch)

    def after(self, cursor: EventId) -> Batch | None:
        """The next frames after the cursor, from whichever channel holds them."""
        for channel in self.channels:
            if channel.epoch < cursor.epoch:
                continue
            batch = channel.after(cursor.seq if channel.epoch == cursor.epoch else 0)
            if batch is not None:
                return batch
        return None

    def wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    async def changed(self, timeout: float | None) -> None:
        """Returns at the next `wake`, or after `timeout` seconds."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait({waiter}, timeout=timeout)
        finally:
            self._waiters.discard(waiter)
            waiter.cancel()


class Watcher(Protocol):
    """Told of what this process writes; must neither block nor raise."""

    def changed(self, thread_id: UUID, channel: Channel) -> None: ...
    def dropped(self, thread_id: UUID) -> None: ...


class Logs:
    """All thread logs of this process. One way in, one way out."""

    def __init__(self, *, cap: int, retention: float) -> None:
        self.watcher: Watcher | None = None
        self._logs: dict[UUID, ThreadLog] = {}
        self._cap = cap
        self._retention = retention

    def __len__(self) -> int:
        return len(self._logs)

    def get(self, thread_id: UUID) -> ThreadLog | None:
        return self._logs.get(thread_id)

    def subscribe(self, thread_id: UUID) -> ThreadLog:
        """The log, kept until as many `unsubscribe` calls have come."""
        log = self._logs.setdefault(thread_id, ThreadLog(thread_id))
        log.followers += 1
        return log

    def unsubscribe(self, log: ThreadLog) -> None:
        log.followers -= 1
        self._forget_if_empty(log)

    def open(self, thread_id: UUID, run_id: UUID | None, epoch: int) -> Channel:
        return self._logs.setdefault(thread_id, ThreadLog(thread_id)).open(run_id, epoch, self._cap)

    def append(
        self, thread_id: UUID, channel: Channel, name: str, data: Mapping[str, Any]
    ) -> Event:
        """Numbers, stores and announces one event."""
        event = Event.make(channel.next_id, name, data)
        self.put(thread_id, channel, event)
        return event

    def put(self, thread_id: UUID, channel: Channel, event: Event) -> None:
        channel.append(event)
        self._changed(thread_id, channel)

    def single(self, thread_id: UUID, event: Event, run_id: UUID | None) -> None:
        """An event of a run that nobody owns: a channel of its own, closed at once."""
        channel = self.open(thread_id, run_id, event.id.epoch)
        self.put(thread_id, channel, event)
        self.close(thread_id, channel)

    def close(self, thread_id: UUID, channel: Channel) -> None:
        """Nothing more comes; again is no error."""
        if channel.closed_at is None:
            channel.closed_at = asyncio.get_running_loop().time()
            self._changed(thread_id, channel)

    def _changed(self, thread_id: UUID, channel: Channel) -> None:
        log = self._logs.get(thread_id)
        if log is not None:
            log.wake()
        if self.watcher is not None:
            self.watcher.changed(thread_id, channel)

    def drop(self, thread_id: UUID) -> None:
        """Forgets a deleted thread; its followers are woken and find it gone."""
        log = self._logs.pop(thread_id, None)
        if log is not None:
            log.channels.clear()
            log.wake()
        if self.watcher is not None:
            self.watcher.dropped(thread_id)

    def sweep(self) -> None:
        """Forgets channels that closed longer than the retention ago."""
        limit = asyncio.get_running_loop().time() - self._retention
        for log in list(self._logs.values()):
            log.channels = [c for c in log.channels if c.closed_at is None or c.closed_at > limit]
            self._forget_if_empty(log)

    def _forget_if_empty(self, log: ThreadLog) -> None:
        if not log.channels and log.followers == 0 and self._logs.get(log.thread_id) is log:
            del self._logs[log.thread_id]
