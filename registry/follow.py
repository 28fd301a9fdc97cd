"""Following a thread: replay after a cursor, then tail, to the end of its latest run.

Invariants:
1. Subscribe, then read the durable status, then replay, then tail: the other order loses
   events between the read and the subscription.
2. The next event is either the direct successor of the cursor, or a `gap` comes first.
3. A stream ends after the event that ends the thread's latest run, and the end is durable:
   a reader who comes after the events are gone gets it from the timeline.
4. A reader holds a cursor and nothing else: no queue, no copy, no database connection.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from registry.channel import Logs, ThreadLog
from registry.events import ENDING, EventId, encode_frame, now
from registry.run import ENDED, Run
from registry.store import RunStore
from registry.timeline import Entry, Timeline

POLL: Final = 2.0  # seconds between two looks at a run that this process does not execute


@dataclass(frozen=True, slots=True)
class Position:
    """Where a follower starts. `at_end`: nothing will ever come after its cursor.
    `lost`: the cursor that was sent is past the end, so the stream starts with a gap."""

    cursor: EventId
    at_end: bool = False
    lost: EventId | None = None


class Follower:
    def __init__(self, logs: Logs, store: RunStore, timeline: Timeline) -> None:
        self._logs = logs
        self._store = store
        self._timeline = timeline

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
        try:
            reader = _Reader(log, position)
            if position.lost is not None:
                yield gap(position.lost, "the cursor is past the end")
            while (run := await self._latest(thread_id)) is not None:
                for data in reader.replay(await self._timeline.since(thread_id, reader.cursor)):
                    yield data
                if run.status in ENDED and reader.cursor >= await self._end_of(run):
                    return
                ending = False
                while not ending:
                    while (step := reader.step()) is not None:
                        yield step.data
                        ending = step.ending
                    if not ending:
                        await log.changed(None if log.live else POLL)
                        ending = not log.live  # ended, or made elsewhere: look again
        finally:
            self._logs.unsubscribe(log)

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
        step = self.step()
        return step.data if step is not None else None

    def step(self) -> _Step | None:
        batch = self._log.after(self.cursor)
        if batch is None:
            return None
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


def gap(after: EventId, reason: str) -> bytes:
    """An honest hole: the reader reads the state and goes on from its cursor."""
    return encode_frame(None, "gap", {"after": str(after), "reason": reason, "ts": now()})


def _closes_epoch(entry: Entry) -> bool:
    """Nothing follows this entry in its epoch: it ends a run, or nobody owned the run."""
    return entry.name in ENDING or (entry.id.seq == 1 and entry.name != "run.started")
