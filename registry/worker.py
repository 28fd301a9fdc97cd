"""The worker: claims runs while it has free slots, executes them, keeps their leases."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

import structlog

from registry import orphans
from registry.bus import CANCEL, PENDING, Bus
from registry.channel import Logs
from registry.database import Database
from registry.errors import LeaseLost, StoreDown
from registry.events import Event
from registry.hints import Hints
from registry.leases import CHECK, Leases
from registry.loops import Loop
from registry.options import WorkerOptions
from registry.requirements import mark_announced
from registry.run import Body, Run
from registry.store import RunStore
from registry.supervisor import ChannelEmit, Describe, Supervisor
from registry.tasks import Entry, TaskRegistry, outlive
from registry.threads import Threads
from registry.timeline import record
from registry.transitions import Claim, Placed, claim_next

POLL: Final = 1.0  # seconds between two looks for pending runs; a hint comes sooner
LOOK: Final = 0.05  # seconds between two looks at what a drain still waits for

log = structlog.get_logger(__name__)


def _still_open(entry: Entry) -> None:
    """Raises `LeaseLost` once the run's ending is numbered: no event may come after it."""
    if entry.settling:
        raise LeaseLost


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
        settled: orphans.Settled,
        mirrored: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`mirrored` returns once readers elsewhere can have what was written here so far."""
        self.worker_id = options.worker_id
        self.options = options
        self.tasks = TaskRegistry()
        self.draining = False
        self.database = database
        self.logs = logs
        self.store = RunStore(database)
        self.threads = Threads(database)
        self._purge = purge
        self._settled = settled
        self._emits: dict[UUID, ChannelEmit] = {}
        self._supervisor = Supervisor(
            database,
            logs,
            body,
            describe,
            claim=self.claim,
            on_end=self._ended,
            on_pending=self.offer,
            mirrored=mirrored,
        )
        self.leases = Leases(
            self.tasks,
            self.store,
            worker_id=self.worker_id,
            seconds=options.lease,
            on_stop=self._stop_here,
            on_wish=self.heed,
        )
        self.claims = Loop("claims", POLL, self.claim_pending)
        self.renewals = Loop("renewals", options.lease / 3, self.leases.renew)
        self.expiry = Loop("expiry", CHECK, self.leases.expire)
        self.reaper = Loop("reaper", options.scan, self.scan)
        self.sweeper = Loop("sweeper", min(options.scan, 10), self.sweep)
        self.hints = Hints(
            bus, self.worker_id, self.tasks, renewals=self.renewals, claims=self.claims
        )

    @property
    def loops(self) -> list[Loop]:
        return [self.claims, self.renewals, self.expiry, self.reaper, self.sweeper]

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
        if before is not None and not before.settling:  # claimed anew: the old lease is lost
            self.tasks.request_cancel(before, "lease_lost")
        work = self._execute(placed, gate, before)
        entry = self.tasks.register(run.thread_id, run.run_id, work)
        self.leases.hold(entry, run.epoch)
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
        self.leases.hold(entry, placed.run.epoch)
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

    async def offer(self, run: Run) -> None:
        """Tells all workers of a run that waits to be claimed."""
        self.claims.wake()
        await self.hints.send(PENDING, run)

    def _ended(self, entry: Entry, successor: Placed | None) -> None:
        # The same run may have been lost and claimed again meanwhile, under a later epoch.
        emit = self._emits.get(entry.run_id)
        if emit is not None and emit.channel.epoch == entry.epoch:
            del self._emits[entry.run_id]
        self.tasks.release(entry)  # its outcome is written: the thread is free again
        mine = successor is not None and successor.run.worker_id == self.worker_id
        if successor is not None and mine and not entry.adopted:
            self.launch(successor)
        self.claims.wake()

    # -- reaching a run from outside

    def emit_of(self, run_id: UUID) -> ChannelEmit | None:
        """The channel of a run that executes here and has not ended, to add an event."""
        entry = self.tasks.of_run(run_id)
        return None if entry is None or entry.settling else self._emits.get(run_id)

    async def heed(self, entry: Entry) -> None:
        """Numbers the events of requirements that came for a run that executes here, and asks
        its body to take them at the next boundary."""
        emit = self.emit_of(entry.run_id)
        if emit is None:
            return
        try:
            async with self.database.transaction() as tx:
                ids = await mark_announced(tx, entry.thread_id, entry.run_id, entry.epoch)
                _still_open(entry)
                queued = [{"id": str(found), "status": "queued"} for found in ids]
                events = [
                    self.logs.append(entry.thread_id, emit.channel, "requirement", data)
                    for data in queued
                ]
                await record(tx, entry.thread_id, entry.run_id, *events)
        except LeaseLost:
            return  # they stay queued: what ended the run, or its next owner, takes them
        emit.request("modify")

    async def stop(self, run: Run, by: str, held: float) -> Entry | None:
        """Cancels a running run whose intent is durable: here, or by a hint to its owner.

        `held`: seconds for which the owner's lease holds. Should it be dead, the scan that
        comes right after that ends the run.
        """
        entry = self.tasks.of_run(run.run_id)
        if entry is not None:
            self._stop_here(entry, by)
            return entry
        await self.hints.send(CANCEL, run)
        asyncio.get_running_loop().call_later(max(held, 0) + 0.05, self.reaper.wake)
        return None

    def _stop_here(self, entry: Entry, by: str) -> None:
        emit = self.emit_of(entry.run_id)
        if emit is not None and entry.reason is None:
            data = {"run_id": str(entry.run_id), "mode": "stop", "by": by}
            self.logs.append(entry.thread_id, emit.channel, "run.stopping", data)
        self.tasks.request_cancel(entry, "stop")

    # -- loops

    async def claim_pending(self) -> None:
        while self.free > 0:
            placed = await claim_next(self.database, self.worker_id, self.options.lease)
            if placed is None:
                return
            self.launch(placed)

    async def scan(self, *, dead_prefix: str | None = None) -> None:
        """Takes back orphans. `dead_prefix`: see `orphans.scan`."""
        found = await orphans.scan(
            self.database,
            max_attempts=self.options.max_attempts,
            recover=self.options.recover,
            settled=self._settled,
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
        # The next one is due when the first lease lapses, should that come before the period.
        lapse = await self.store.next_lapse(self.worker_id)
        if lapse is not None and lapse < self.options.scan:
            asyncio.get_running_loop().call_later(max(lapse, 0) + LOOK, self.reaper.wake)

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

    async def drain(self, timeout: float, hurry: asyncio.Event) -> bool:
        """Claims no more, asks the bodies to stop at a step boundary, cancels those that do
        not within half the time, or once `hurry` is set; True when no run is left here."""
        self.draining = True
        loop = asyncio.get_running_loop()
        patience = loop.time() + timeout / 2
        while (entries := self.tasks.entries()) and loop.time() < patience and not hurry.is_set():
            for entry in entries:  # a start that was let in just before may only now be here
                emit = self._emits.get(entry.run_id)
                if emit is not None and not emit.shutting_down:
                    emit.request("shutdown")
            await asyncio.wait({entry.task for entry in entries}, timeout=LOOK)
        left = await self.tasks.end_all("shutdown", timeout / 2)
        for entry in left:
            log.error("run_would_not_end", run_id=str(entry.run_id))
        return not left

    async def close(self) -> None:
        self.hints.close()
        try:
            await self.tasks.close()
        except StoreDown as error:
            log.warning("close_failed", reason=error.reason)
