"""What the state machine stands on: one loop and pool for all examples, and holders of runs."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar
from uuid import uuid4

from registry.bus import LocalBus
from registry.channel import Logs
from registry.database import Database
from registry.errors import LeaseLost
from registry.events import Event, EventId
from registry.options import WorkerOptions
from registry.requirements import Requirements, mark_announced
from registry.run import Interrupt, Outcome, Run
from registry.store import RunStore
from registry.timeline import record
from registry.transitions import Ended, finish
from registry.worker import Worker
from tests.registry.stage import describe, never_settled, no_purge

LEASE: Final = 3600.0  # seconds: a lease ends here only when a rule says so
PROBLEM: Final = {"type": "/problems/internal", "title": "x", "status": 500}

# None: the body was cancelled.
Ending = Literal["succeeded", "waiting", "failed"] | None
T = TypeVar("T")


class Ground:
    """`claiming` takes the runs that it makes at once, `queueing` leaves them to the claims."""

    def __init__(self, url: str) -> None:
        # A factory of its own, so that the loop of other tests stays the thread's.
        self.runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.database = Database(url, size=5)
        self.run(self.database.open())
        self.store = RunStore(self.database)
        self.requirements = Requirements(self.database)
        self.claiming = self.run(self._worker(slots=1_000))
        self.queueing = self.run(self._worker(slots=0))

    async def _worker(self, *, slots: int) -> Worker:
        return Worker(
            self.database,
            Logs(cap=1 << 20, retention=3600),
            LocalBus(),
            self._never,
            describe,
            options=WorkerOptions(slots=slots, lease=LEASE, worker_id="worker-a"),
            purge=no_purge,
            settled=never_settled,
        )

    async def _never(self, run: Run, emit: object) -> Outcome:
        raise AssertionError("no body runs here")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def close(self) -> None:
        self.run(self.database.close())
        self.runner.close()


@dataclass
class Holder:
    """Somebody who claimed a run and believes to own it, rightly or not any more."""

    ground: Ground
    worker: str
    run: Run
    seq: int = 2  # of its next event; its run.started was 1

    async def renew(self) -> bool:
        mine = {self.run.run_id: self.run.epoch}
        return bool(await self.ground.store.renew(self.worker, mine, LEASE))

    async def hand_back(self) -> bool:
        return await self.ground.store.hand_back(self.run.run_id, self.run.epoch)

    async def finish(self, status: Ending) -> Ended | None:
        """None where the outcome was refused."""
        asks: tuple[Interrupt, ...] = ()
        if status == "waiting":
            asks = (Interrupt(str(uuid4()), "clarify", {}),)
        problem = PROBLEM if status == "failed" else None
        try:
            return await finish(
                self.ground.database,
                self.run,
                Outcome(status, asks, problem) if status is not None else None,
                next_id=self._next_id(),
                claim=(self.worker, LEASE),
                counters={},
            )
        except LeaseLost:
            return None

    async def announce(self) -> bool:
        """Numbers the events of requirements that came while it executes."""
        try:
            async with self.ground.database.transaction() as tx:
                ids = await mark_announced(tx, self.run.thread_id, self.run.run_id, self.run.epoch)
                for found in ids:
                    data = {"id": str(found), "status": "queued"}
                    event = Event.make(self._next_id(), "requirement", data)
                    await record(tx, self.run.thread_id, self.run.run_id, event)
                    self.seq += 1
        except LeaseLost:
            return False
        return True

    async def apply(self) -> None:
        """Takes in what is queued."""
        queued = await self.ground.requirements.queued(self.run.thread_id)
        ids = [str(item["id"]) for item in queued]
        await self.ground.requirements.mark(self.run.thread_id, self.run.epoch, ids, "applied")

    def _next_id(self) -> EventId:
        return EventId(self.run.epoch, self.seq)
