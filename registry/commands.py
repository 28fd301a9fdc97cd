"""Commands: what people ask of threads and runs. The owner is part of every query.

Each command is one transaction under the thread's row lock, so commands on one thread
come one by one; what it starts or stops is launched or told afterwards.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from registry import rules
from registry.bus import MODIFY
from registry.database import Row, Transaction
from registry.errors import Draining, NotFound
from registry.events import Event, EventId
from registry.idempotency import IdempotencyKey, Remembered, recall, remember
from registry.ids import uuid7
from registry.requirements import insert_requirement
from registry.run import CancelMode, Kind, Run, Status, Thread
from registry.store import intend_cancel, latest_run, was_answered
from registry.threads import insert_thread, lock_run, lock_thread, raise_epoch
from registry.timeline import Entry, Timeline, record
from registry.transitions import Placed, cancel_now, place
from registry.worker import Worker

DELETE_WAIT: Final = 10.0  # seconds a delete waits for the run's real end
POLL: Final = 0.1  # seconds between two looks at a run that executes elsewhere


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a command started. `repeated`: an Idempotency-Key came again."""

    thread_id: UUID
    run_id: UUID | None
    status: Status
    requirement_id: UUID | None = None
    repeated: bool = False


class Commands:
    def __init__(self, worker: Worker, *, launch: Callable[[Placed], object] | None = None) -> None:
        """`launch` takes the runs that are claimed here, in place of the worker's own; a
        terminal executes them in a task that it awaits."""
        self.worker = worker
        self._launch = launch if launch is not None else worker.launch
        self._database = worker.database
        self._threads = worker.threads
        self._timeline = Timeline(worker.database)

    # -- starting work

    async def start(
        self,
        owner: str,
        *,
        question: str,
        title: str,
        input: Mapping[str, Any],  # noqa: A002 - the column's name
        priority: str = "default",
        key: IdempotencyKey | None = None,
    ) -> Accepted:
        """A new thread and its first run, claimed here if a slot is free."""
        self._admit()
        async with self._database.transaction() as tx:
            if key is not None and (known := await recall(tx, owner, key)) is not None:
                return await self._again(tx, known)
            thread_id = uuid7()
            await insert_thread(
                tx,
                thread_id=thread_id,
                owner=owner,
                title=title,
                question=question,
                input=dict(input),
            )
            placed = await place(
                tx,
                thread_id=thread_id,
                kind="start",
                input=dict(input),
                priority=priority,
                epoch=1,
                claim=self.worker.claim(),
            )
            if key is not None:
                await remember(tx, owner, key, Remembered(thread_id, placed.run.run_id, None))
        return await self._go(placed)

    async def answer(
        self,
        owner: str,
        thread_id: UUID,
        *,
        interrupt_id: str,
        value: Any,
        key: IdempotencyKey | None = None,
    ) -> Accepted:
        """Ends the wait on one interrupt; its id is compared and set here, once."""

        async def check(tx: Transaction, run: Run) -> None:
            answered = await was_answered(tx, thread_id, interrupt_id)
            rules.may_answer(run, interrupt_id, answered=answered)

        work = {"interrupt_id": interrupt_id, "value": value}
        return await self._follow_up(owner, thread_id, "answer", work, key, check)

    async def resume(
        self,
        owner: str,
        thread_id: UUID,
        *,
        finish: bool = False,
        key: IdempotencyKey | None = None,
    ) -> Accepted:
        """Goes on from the last checkpoint."""

        async def check(tx: Transaction, run: Run) -> None:
            del tx
            rules.may_resume(run)

        return await self._follow_up(owner, thread_id, "continue", {"finish": finish}, key, check)

    async def _follow_up(
        self,
        owner: str,
        thread_id: UUID,
        kind: Kind,
        work: Mapping[str, Any],
        key: IdempotencyKey | None,
        check: Callable[[Transaction, Run], Awaitable[None]],
    ) -> Accepted:
        self._admit()
        async with self._database.transaction() as tx:
            await lock_thread(tx, owner, thread_id)
            if key is not None and (known := await recall(tx, owner, key)) is not None:
                return await self._again(tx, known)
            run = await latest_run(tx, thread_id)
            await check(tx, run)
            placed = await self._place(tx, run, kind, work)
            if key is not None:
                await remember(tx, owner, key, Remembered(thread_id, placed.run.run_id, None))
        return await self._go(placed)

    async def modify(
        self,
        owner: str,
        thread_id: UUID,
        *,
        body: Mapping[str, Any],
        key: IdempotencyKey | None = None,
    ) -> Accepted:
        """Stores a requirement; what becomes of it depends on the thread's status."""
        self._admit()
        placed: Placed | None = None
        async with self._database.transaction() as tx:
            await lock_thread(tx, owner, thread_id)
            if key is not None and (known := await recall(tx, owner, key)) is not None:
                return await self._again(tx, known)
            run = await latest_run(tx, thread_id)
            rules.may_modify(run)
            requirement_id = await insert_requirement(
                tx, thread_id, body, announced=run.status is not Status.RUNNING
            )
            event: Event | None = None
            if rules.starts_modify_run(run):
                placed = await self._place(tx, run, "modify", {})
            elif run.status is not Status.RUNNING:  # nobody owns it: numbered here
                epoch = await raise_epoch(tx, thread_id)
                event = Event.make(EventId(epoch, 1), "requirement", _queued(requirement_id))
                await record(tx, thread_id, run.run_id, event)
            if key is not None:
                run_id = placed.run.run_id if placed is not None else None
                await remember(tx, owner, key, Remembered(thread_id, run_id, requirement_id))
        if placed is not None:
            accepted = await self._go(placed)
            return Accepted(thread_id, accepted.run_id, accepted.status, requirement_id)
        if event is not None:
            await self.worker.announce(event, run)
        elif (entry := self.worker.tasks.of_run(run.run_id)) is not None:
            await self.worker.heed(entry)
        else:
            await self.worker.hints.send(MODIFY, run)
        return Accepted(thread_id, None, run.status, requirement_id)

    async def _place(
        self, tx: Transaction, run: Run, kind: Kind, work: Mapping[str, Any]
    ) -> Placed:
        epoch = await raise_epoch(tx, run.thread_id)
        return await place(
            tx,
            thread_id=run.thread_id,
            kind=kind,
            input=work,
            priority=run.priority,
            epoch=epoch,
            claim=self.worker.claim(),
        )

    async def _again(self, tx: Transaction, known: Remembered) -> Accepted:
        run = await latest_run(tx, known.thread_id)
        return Accepted(known.thread_id, known.run_id, run.status, known.requirement_id, True)

    def _admit(self) -> None:
        if self.worker.draining:
            raise Draining(retry_after=5)

    async def _go(self, placed: Placed) -> Accepted:
        run = placed.run
        if run.status is Status.RUNNING:
            self._launch(placed)
        else:
            await self.worker.announce(placed.event, run)
            await self.worker.offer(run)
        return Accepted(run.thread_id, run.run_id, run.status)

    # -- ending work

    async def cancel(
        self,
        owner: str,
        thread_id: UUID,
        *,
        mode: CancelMode = "stop",
        by: str,
        wait_seconds: float | None = None,
    ) -> Run:
        """The run as it stands afterwards: still running means that it stops now.

        The intent is durable before anything is told. With `wait_seconds` the call returns
        once the run has really ended, or after that time.
        """
        async with self._database.transaction() as tx:
            await lock_thread(tx, owner, thread_id)
            await lock_run(tx, thread_id)
            run = await latest_run(tx, thread_id)
            rules.may_cancel(run, mode)
            event, held = None, None
            if run.status is Status.RUNNING:
                held = await intend_cancel(tx, run.run_id, mode=mode, by=by)
            elif run.status in (Status.PENDING, Status.WAITING, Status.INTERRUPTED):
                event = await cancel_now(tx, run, by=by)
        if event is not None:
            await self.worker.announce(event, run)
        elif held is not None:
            await self.worker.stop(run, by, held)
            if wait_seconds is not None:
                await self._ended(run, wait_seconds)
        return await self.worker.store.latest(thread_id)

    async def _ended(self, run: Run, seconds: float) -> bool:
        entry = self.worker.tasks.of_run(run.run_id)
        if entry is not None:
            return await self.worker.tasks.ended(entry, seconds)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while loop.time() < deadline:
            latest = await self.worker.store.latest(run.thread_id)
            if latest.run_id != run.run_id or latest.status is not Status.RUNNING:
                return True
            await asyncio.sleep(POLL)
        return False

    async def delete(self, owner: str, thread_id: UUID) -> bool:
        """Cancels, then removes everything. False: accepted, the run is still ending."""
        await self._threads.get(owner, thread_id)
        run = await self.cancel(owner, thread_id, mode="stop", by=owner)
        await self._threads.mark_deleted(owner, thread_id)
        if run.status is Status.RUNNING and not await self._ended(run, DELETE_WAIT):
            return False
        await self.worker.remove(thread_id)
        return True

    # -- looking

    async def thread(self, owner: str, thread_id: UUID) -> Thread:
        return await self._threads.get(owner, thread_id)

    async def latest(self, thread_id: UUID) -> Run:
        """The latest run of a thread whose owner was checked. Raises `NotFound`."""
        try:
            return await self.worker.store.latest(thread_id)
        except LookupError:
            raise NotFound("thread") from None

    async def history(
        self, owner: str, *, query: str = "", limit: int = 20, after: UUID | None = None
    ) -> tuple[list[Row], UUID | None]:
        return await self._threads.history(owner, query=query, limit=limit, after=after)

    async def timeline(self, owner: str, thread_id: UUID) -> list[Entry]:
        await self._threads.get(owner, thread_id)
        return list(await self._timeline.since(thread_id, EventId(0, 0)))


def _queued(requirement_id: UUID) -> dict[str, Any]:
    return {"id": str(requirement_id), "status": "queued"}
