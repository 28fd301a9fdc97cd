"""The worker: claims runs while it has free slots, executes them, keeps their leases."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

import structlog

from registry import orphans
from registry.bus import CANCEL, Bus, Message
from registry.channel import Logs
from registry.database import Database
from registry.errors import StoreDown
from registry.events import Event, now
from registry.ids import uuid7
from registry.loops import Loop
from registry.run import Body, Run
from registry.store import RunStore
from registry.supervisor import ChannelEmit, Describe, Supervisor
from registry.tasks import Entry, TaskRegistry
from registry.threads import Threads
from registry.timeline import record
from registry.transitions import Claim, Placed, claim_next

POLL: Final = 1.0  # seconds between two looks for pending runs; a hint comes sooner
SERVE: Final = "serve-"  # worker ids of serving workers start so

log = structlog.get_logger(__name__)


async def outlive(entry: Entry) -> None:
    """Waits until a settling run has sent its last event and left the registry.

    A cancel meanwhile is not lost: the registry repeats it, and the supervisor hears it.
    """
    while not entry.released.is_set():
        try:
            await entry.released.wait()
        except asyncio.CancelledError:
            continue


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Times in seconds."""

    slots: int = 64
    lease: float = 30
    scan: float = 30
    max_attempts: int = 3
    recover: Literal["resume", "prompt"] = "resume"
    prefix: str = SERVE


class Worker:
    def __init__(
        self,
        database: Database,
        logs: Logs,
        bus: Bus,
        body: Body,
        describe: Describe,
        *,
        options: WorkerOptions,
        purge: Callable[[UUID], Awaitable[None]],
    ) -> None:
        self.worker_id = f"{options.prefix}{uuid7()}"
        self.options = options
        self.tasks = TaskRegistry()
        self.draining = False
        self.database = database
        self.logs = logs
        self.bus = bus
        self.store = RunStore(database)
        self.threads = Threads(database)
        self._purge = purge
        self._emits: dict[UUID, ChannelEmit] = {}
        self._supervisor = Supervisor(
            database, logs, body, describe, claim=self.claim, on_end=self._ended
        )
        self.claims = Loop("claims", POLL, self.claim_pending)
        self.renewals = Loop("renewals", options.lease / 3, self.renew)
        self.reaper = Loop("reaper", options.scan, self.scan)
        self.sweeper = Loop("sweeper", min(options.scan, 10), self.sweep)
        self._unsubscribe = bus.subscribe(CANCEL, self._hinted)

    @property
    def loops(self) -> list[Loop]:
        return [self.claims, self.renewals, self.reaper, self.sweeper]

    @property
    def free(self) -> int:
        """Slots that a claim may take now; none while draining."""
        return 0 if self.draining else self.options.slots - len(self.tasks)

    def claim(self) -> Claim:
        """What a transition that makes a run needs to claim it here, or None."""
        return (self.worker_id, self.options.lease) if self.free > 0 else None

    # -- executing

    def launch(self, placed: Placed) -> Entry:
        """Starts executing a run that this worker has claimed."""
        run = placed.run
        gate: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()
        before = self.tasks.get(run.thread_id)
        work = self._execute(placed, gate, before)
        entry = self.tasks.register(run.thread_id, run.run_id, work)
        gate.set_result(entry)
        return entry

    async def _execute(
        self, placed: Placed, gate: asyncio.Future[Entry], before: Entry | None
    ) -> None:
        run, entry = placed.run, await gate
        with structlog.contextvars.bound_contextvars(
            run_id=str(run.run_id),
            thread_id=str(run.thread_id),
            worker_id=self.worker_id,
            attempt=run.attempt,
        ):
            if before is not None:  # its outcome is committed, its last events come first
                await outlive(before)
            await self._supervisor.execute(run, self._open(placed), entry)

    async def execute_here(self, placed: Placed) -> None:
        """Executes a claimed run in the current task, and what its ending started after it."""
        entry = self.tasks.register_current(placed.run.thread_id, placed.run.run_id)
        try:
            ended = await self._supervisor.execute(placed.run, self._open(placed), entry)
        finally:
            self.tasks.release(entry)
        if ended is not None and ended.successor is not None:
            await self.execute_here(ended.successor)

    def _open(self, placed: Placed) -> ChannelEmit:
        run = placed.run
        channel = self.logs.open(run.thread_id, run.run_id, run.epoch)
        self.logs.put(run.thread_id, channel, placed.event)
        emit = self._emits[run.run_id] = ChannelEmit(self.logs, run.thread_id, channel)
        return emit

    async def announce(self, event: Event, run: Run) -> None:
        """Sends an event that is durable already, of a run that nobody executes."""
        before = self.tasks.get(run.thread_id)
        if before is not None and before.settling:
            await outlive(before)
        self.logs.single(run.thread_id, event, run.run_id)

    def _ended(self, run: Run, successor: Placed | None) -> None:
        self._emits.pop(run.run_id, None)
        entry = self.tasks.of_run(run.run_id)
        if entry is not None:
            self.tasks.release(entry)  # its outcome is written: the thread is free again
        mine = successor is not None and successor.run.worker_id == self.worker_id
        if successor is not None and mine and not (entry is not None and entry.adopted):
            self.launch(successor)
        self.claims.wake()

    # -- reaching a run from outside

    def emit_of(self, run_id: UUID) -> ChannelEmit | None:
        """The channel of a run that executes here and has not ended, to add an event."""
        entry = self.tasks.of_run(run_id)
        return None if entry is None or entry.settling else self._emits.get(run_id)

    async def tell(self, run: Run, name: str, data: dict[str, object]) -> Event | None:
        """Numbers an event of a run that executes here; None where it does not."""
        emit = self.emit_of(run.run_id)
        if emit is None:
            return None
        event = self.logs.append(run.thread_id, emit.channel, name, data)
        async with self.database.transaction() as tx:
            await record(tx, run.thread_id, run.run_id, event)
        return event

    async def stop(self, run: Run, by: str) -> Entry | None:
        """Cancels a running run whose intent is durable: here, or by a hint to its owner."""
        entry = self.tasks.of_run(run.run_id)
        if entry is None:
            message = {
                "thread_id": str(run.thread_id),
                "run_id": str(run.run_id),
                "instance_id": self.worker_id,
                "ts": now(),
            }
            await self.bus.publish(CANCEL, message)
            return None
        emit = self.emit_of(run.run_id)
        if emit is not None and entry.reason is None:
            data = {"run_id": str(run.run_id), "mode": "stop", "by": by}
            self.logs.append(run.thread_id, emit.channel, "run.stopping", data)
        self.tasks.request_cancel(entry, "stop")
        return entry

    def _hinted(self, message: Message) -> None:
        if message.get("instance_id") != self.worker_id:
            self.renewals.wake()  # it reads the intents: the row decides, not the hint

    def request(self, run_id: UUID, reason: str) -> bool:
        """Asks the body of a run here to come to a step boundary."""
        emit = self.emit_of(run_id)
        if emit is not None:
            emit.request(reason)
        return emit is not None

    # -- loops

    async def claim_pending(self) -> None:
        while self.free > 0:
            placed = await claim_next(self.database, self.worker_id, self.options.lease)
            if placed is None:
                return
            self.launch(placed)

    async def renew(self) -> None:
        entries = self.tasks.entries()
        if not entries:
            return
        # Only what really executes: a claim whose launch was cut off must lapse.
        rows = await self.store.renew(
            self.worker_id, [entry.run_id for entry in entries], self.options.lease
        )
        held = {row["run_id"]: row for row in rows}
        for entry in entries:
            row = held.get(entry.run_id)
            if row is None:
                if not entry.settling and not entry.task.done():
                    self.tasks.request_cancel(entry, "lease_lost")
            elif row["cancel_mode"] == "stop" and entry.reason is None:
                self.tasks.request_cancel(entry, "stop")

    async def scan(self, *, dead_prefix: str | None = None) -> None:
        """Takes back orphans. `dead_prefix`: see `orphans.scan`."""
        found = await orphans.scan(
            self.database,
            max_attempts=self.options.max_attempts,
            recover=self.options.recover,
            dead_prefix=dead_prefix,
        )
        for orphan in found:
            log.warning(
                "orphan_found",
                run_id=str(orphan.run_id),
                thread_id=str(orphan.thread_id),
                status=orphan.status,
            )
            if orphan.event is not None:
                self.logs.single(orphan.thread_id, orphan.event, orphan.run_id)
        if found:
            self.claims.wake()

    async def sweep(self) -> None:
        self.logs.sweep()
        for thread_id in await self.threads.to_purge():
            await self.remove(thread_id)

    async def remove(self, thread_id: UUID) -> None:
        """Removes a deleted thread on which nothing runs: its checkpoints, then its rows."""
        await self._purge(thread_id)
        await self.threads.remove(thread_id)
        self.logs.drop(thread_id)

    # -- the end

    async def drain(self, timeout: float) -> bool:
        """Claims no more, asks the bodies to stop at a step boundary, cancels those that do
        not within half the time; True when no run is left in this process."""
        self.draining = True
        for emit in list(self._emits.values()):
            emit.request("shutdown")
        entries = self.tasks.entries()
        if entries:
            await asyncio.wait({entry.task for entry in entries}, timeout=timeout / 2)
        left = await self.tasks.end_all("shutdown", timeout / 2)
        for entry in left:
            log.error("run_would_not_end", run_id=str(entry.run_id))
        return not left

    async def close(self) -> None:
        self._unsubscribe()
        try:
            await self.tasks.close()
        except StoreDown as error:
            log.warning("close_failed", reason=error.reason)
