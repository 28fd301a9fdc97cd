"""Following a thread: replay after a cursor, then tail, to the end of its latest run.

Invariants:
1. Subscribe, then read the durable status, then replay, then tail: the other order loses
   events between the read and the subscription.
2. The next event is either the direct successor of the cursor, or a `gap` comes first.
   Whenever the epoch changes the timeline is read again: it has every epoch's first event,
   so none can be passed over, whichever worker wrote it.
3. A stream ends after the event that ends the thread's latest run, and the end is durable:
   a reader who comes after the events are gone gets it from the timeline.
4. A reader holds a cursor and nothing else: no queue, no copy, no database connection.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from registry.channel import Batch, Logs, ThreadLog
from registry.events import ENDING, EventId, encode_frame, now
from registry.replicas import Replicas
from registry.run import ENDED, Run, Status
from registry.store import RunStore
from registry.timeline import Entry, Timeline

POLL: Final = 2.0  # seconds between two looks at a run that this process does not execute
CATCH_UP: Final = 1.0  # seconds for what is durable to arrive in the copy of its stream
SPIN: Final = 0.05  # seconds between two looks where the log is ahead of the timeline
AWAY: Final = 5.0  # seconds between two gaps while the copy cannot be kept up to date
PAST: Final = "the cursor is past the end"
GONE: Final = "live events of a run on another worker cannot be had now: Redis is away"


@dataclass(frozen=True, slots=True)
class Position:
    """Where a follower starts. `at_end`: nothing will ever come after its cursor.
    `lost`: the cursor that was sent is past the end, so the stream starts with a gap."""

    cursor: EventId
    at_end: bool = False
    lost: EventId | None = None


class Follower:
    """`replicas`: where other workers' events come from; None where there is no other."""

    def __init__(
        self,
        logs: Logs,
        store: RunStore,
        timeline: Timeline,
        replicas: Replicas | None = None,
    ) -> None:
        self._logs = logs
        self._store = store
        self._timeline = timeline
        self._replicas = replicas

    async def locate(self, thread_id: UUID, after: EventId | None) -> Position:
        """Turns what the reader sent into a position; None means the latest run's start."""
        run = await self._store.latest(thread_id)
        if after is None:
            return Position(EventId(run.first_epoch, 0))
        last = await self._timeline.last(thread_id)
        ended, log = run.status in ENDED, self._logs.get(thread_id)
        if ended and last is not None and after == last.id:
            return Position(after, at_end=True)
        known = [e for e in (last.id if last else None, log.last_id if log else None) if e]
        sure = ended or (log is not None and log.live)
        if sure and known and after > max(known):
            end = await self._end_of(run) if ended else max(known)
            start = EventId(end.epoch, end.seq - 1) if ended else end
            return Position(start, lost=after)
        return Position(after)

    async def frames(self, thread_id: UUID, position: Position) -> AsyncGenerator[bytes]:
        """Batches of whole frames. Ends by itself; closing it releases the log."""
        log = self._logs.subscribe(thread_id)
        copied = False
        try:
            reader = _Reader(log, position)
            if position.lost is not None:
                yield gap(position.lost, PAST)
            told = asyncio.get_running_loop().time()
            while (run := await self._latest(thread_id)) is not None:
                if self._replicas is not None and not copied and _elsewhere(log, run, reader):
                    copied = True
                    await self._replicas.join(log)
                entries = await self._timeline.since(thread_id, reader.cursor)
                if copied and (lost := await self._catch_up(log, run, reader, entries)):
                    yield gap(lost, PAST)
                if copied and self._away(log, run, told):
                    told = asyncio.get_running_loop().time()
                    yield gap(reader.cursor, GONE)
                for data in reader.replay(entries):
                    yield data
                if run.status in ENDED and reader.cursor >= (end := await self._end_of(run)):
                    if reader.cursor > end:
                        yield await self._late_end(run, reader.cursor)
                    return
                async with aclosing(self._tail(log, reader)) as tail:
                    async for data in tail:
                        yield data
        finally:
            if copied and self._replicas is not None:
                self._replicas.leave(log)
            self._logs.unsubscribe(log)

    def _away(self, log: ThreadLog, run: Run, told: float) -> bool:
        """It is time to say that the run goes on and its events cannot be seen from here."""
        if self._replicas is None or self._replicas.healthy or log.live:
            return False
        late = asyncio.get_running_loop().time() - told >= AWAY
        return late and run.status is Status.RUNNING

    async def _tail(self, log: ThreadLog, reader: "_Reader") -> AsyncGenerator[bytes]:
        """What comes next in memory, until there is a reason to look at the rows again."""
        loop = asyncio.get_running_loop()
        again = loop.time() + POLL
        if reader.at_boundary():
            await asyncio.sleep(SPIN)  # the look just now came to nothing
            return
        while True:
            ending = False
            while (step := reader.step()) is not None:
                yield step.data
                ending = step.ending
            if ending or reader.at_boundary():
                return
            if log.live:
                await log.changed(None)
                if not log.live:
                    return
            else:
                await log.changed(again - loop.time())
                if loop.time() >= again or not log.copying:
                    return

    async def _catch_up(
        self, log: ThreadLog, run: Run, reader: "_Reader", entries: Sequence[Entry]
    ) -> EventId | None:
        """Waits until the copy has what the timeline has and what the reader has seen. What
        is not there by then will not come: its writer died, or Redis lost it.

        The reader's cursor, where it turns out to be past the end of a run that goes on.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + CATCH_UP
        wanted = max([reader.cursor, *(entry.id for entry in entries)])
        long_ago = datetime.now(UTC) - timedelta(seconds=2 * CATCH_UP)
        while (log.last_id or EventId(0, 0)) < wanted:
            over = run.ended_at is not None and run.ended_at < long_ago
            if over or self._replicas is None or not self._replicas.healthy:
                return None
            if loop.time() >= deadline:
                return reader.past_end(run)
            await log.changed(deadline - loop.time())
        return None

    async def _late_end(self, run: Run, cursor: EventId) -> bytes:
        """For a cursor past the end of an ended thread: the gap, and the end."""
        entries = await self._timeline.since(run.thread_id, await self._end_of(run))
        ends = [entry.event().frame for entry in entries if entry.name in ENDING]
        return gap(cursor, PAST) + b"".join(ends[-1:])

    async def _latest(self, thread_id: UUID) -> Run | None:
        try:
            return await self._store.latest(thread_id)
        except LookupError:
            return None  # deleted meanwhile

    async def _end_of(self, run: Run) -> EventId:
        """Id of the event that ended this run."""
        entries = await self._timeline.since(run.thread_id, EventId(run.first_epoch, 0))
        ends = [e.id for e in entries if e.run_id == run.run_id and e.name in ENDING]
        return ends[-1] if ends else EventId(run.epoch, 0)


@dataclass(frozen=True, slots=True)
class _Step:
    data: bytes
    ending: bool


class _Reader:
    """A cursor into a thread's events, in memory and in the timeline."""

    def __init__(self, log: ThreadLog, position: Position) -> None:
        self._log = log
        self.cursor = position.cursor
        # Nothing of the cursor's epoch can follow it, or a gap was told already.
        self._complete = position.cursor.seq == 0 or position.lost is not None

    def replay(self, entries: Sequence[Entry]) -> list[bytes]:
        """All that is known after the cursor: memory where it has the epoch, else the
        timeline. Starts with a gap where something in between is gone."""
        out: list[bytes] = []
        for entry in entries:
            if entry.id == self.cursor:
                self._complete = _closes_epoch(entry)
            if entry.id <= self.cursor:
                continue
            while (step := self._from_memory(entry.id)) is not None:
                out.append(step)
            if entry.id > self.cursor:
                self._note(entry.id, out)
                out.append(entry.event().frame)
                self.cursor, self._complete = entry.id, _closes_epoch(entry)
        while (step := self.step()) is not None:
            out.append(step.data)
        return out

    def _from_memory(self, limit: EventId) -> bytes | None:
        """The next batch from memory, if it starts at or before `limit`."""
        batch = self._log.after(self.cursor)
        if batch is None or batch.first > limit:
            return None
        return self._take(batch).data

    def step(self) -> _Step | None:
        """The next batch of the cursor's epoch. Another epoch is the timeline's to open."""
        batch = self._log.after(self.cursor)
        if batch is None or batch.first.epoch != self.cursor.epoch:
            return None
        return self._take(batch)

    def at_boundary(self) -> bool:
        """What comes next in memory is of another epoch."""
        batch = self._log.after(self.cursor)
        return batch is not None and batch.first.epoch != self.cursor.epoch

    def past_end(self, run: Run) -> EventId | None:
        """Goes back to the last event of a running run where the cursor is beyond it; the
        cursor as it was."""
        last, was = self._log.last_id, self.cursor
        if run.status is not Status.RUNNING or last is None or last.epoch != run.epoch:
            return None
        if was <= last:
            return None
        self.cursor, self._complete = last, False
        return was

    def _take(self, batch: Batch) -> _Step:
        head: list[bytes] = []
        self._note(batch.first, head)
        self.cursor = batch.last
        channel = self._log.channel(batch.last.epoch)
        self._complete = (
            channel is not None
            and channel.closed_at is not None
            and (channel.last_id == batch.last)
        )
        return _Step(b"".join(head) + batch.data, batch.ending)

    def _note(self, following: EventId, out: list[bytes]) -> None:
        """Adds a gap unless `following` directly succeeds the cursor."""
        if following.epoch == self.cursor.epoch:
            direct = following.seq == self.cursor.seq + 1
        else:
            direct = self._epoch_complete() and following.seq == 1
        if not direct:
            out.append(gap(self.cursor, "older events are no longer kept"))

    def _epoch_complete(self) -> bool:
        channel = self._log.channel(self.cursor.epoch)
        if channel is not None and channel.closed_at is not None:
            return channel.last_id == self.cursor
        return self._complete


def _elsewhere(log: ThreadLog, run: Run, reader: "_Reader") -> bool:
    """This process's memory alone does not have all that comes after the cursor."""
    channel = log.channel(reader.cursor.epoch)
    if channel is None or channel.replica or channel.first_id.seq > reader.cursor.seq + 1:
        return True
    return run.status not in ENDED and not log.live


def gap(after: EventId, reason: str) -> bytes:
    """An honest hole: the reader reads the state and goes on from its cursor."""
    return encode_frame(None, "gap", {"after": str(after), "reason": reason, "ts": now()})


def _closes_epoch(entry: Entry) -> bool:
    """Nothing follows this entry in its epoch: it ends a run, or nobody owned the run."""
    return entry.name in ENDING or (entry.id.seq == 1 and entry.name != "run.started")
