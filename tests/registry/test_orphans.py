"""Orphans: runs whose worker is gone are taken back, and the dead one can change nothing."""

import asyncio

import pytest

from registry.database import Database
from registry.events import EventId
from registry.run import Emit, Outcome, Run, Status
from tests.registry.stage import stage
from tests.waiting import until


async def forever(run: Run, emit: Emit) -> Outcome:
    emit("token", {"section": 0, "text": "x"})
    await asyncio.Event().wait()
    raise AssertionError


async def at_once(run: Run, emit: Emit) -> Outcome:
    return Outcome("succeeded")


@pytest.mark.parametrize(
    ("attempt", "cancel", "recover", "status"),
    [
        (1, None, "resume", "pending"),
        (3, None, "resume", "failed"),
        (1, "stop", "resume", "cancelled"),
        (1, None, "prompt", "interrupted"),
    ],
)
async def test_an_orphan_is_taken_back_by_the_rules(
    database: Database, attempt: int, cancel: str | None, recover: str, status: str
) -> None:
    async with stage(database, forever, recover=recover) as s:
        started = await s.start()
        thread_id = started.thread_id
        await database.execute(
            "UPDATE runs SET lease_until = now() - interval '1 s', attempt = %(attempt)s,"
            " cancel_mode = %(cancel)s",
            {"attempt": attempt, "cancel": cancel},
        )
        entry = s.worker.tasks.get(thread_id)
        assert entry is not None
        s.logs.drop(thread_id)  # as if the process had died with its memory
        async with stage(database, at_once, recover=recover) as other:
            await other.worker.scan()
            assert str((await s.commands.latest(thread_id)).status) == status
            # The first worker wakes up: it finds its lease gone and may write nothing.
            await s.worker.leases.renew()
            assert await s.worker.tasks.ended(entry, 5)
            assert entry.reason == "lease_lost"
            assert str((await s.commands.latest(thread_id)).status) == status
            if status == "pending":
                await other.worker.claim_pending()
                run = await other.until_ended(thread_id)
                assert (run.status, run.attempt) == (Status.SUCCEEDED, 2)
            events = await other.read(thread_id, EventId(0, 0))
            ids = [EventId.parse(text) for text, name in events if name != "gap"]
            assert ids == sorted(i for i in ids if i is not None)
            assert "gap" in [name for _, name in events]


async def test_a_worker_that_takes_back_its_own_run_executes_it_once(database: Database) -> None:
    """Its lease ran out while it was still at work: both tasks have the same run id."""
    alive: list[int] = []
    most: list[int] = []
    gate = asyncio.Event()

    async def body(run: Run, emit: Emit) -> Outcome:
        alive.append(run.epoch)
        most.append(len(alive))
        try:
            await gate.wait()
        finally:
            alive.remove(run.epoch)
        return Outcome("succeeded")

    async with stage(database, body) as s:
        started = await s.start()
        await until(lambda: alive == [1])
        await database.execute("UPDATE runs SET lease_until = now() - interval '1 s'")
        await s.worker.scan()
        await s.worker.claim_pending()
        await until(lambda: len(most) == 2)
        await s.worker.leases.renew()
        entry = s.worker.tasks.get(started.thread_id)
        assert entry is not None
        assert entry.reason is None
        assert s.worker.emit_of(started.run_id) is not None  # type: ignore[arg-type]
        gate.set()
        run = await s.until_ended(started.thread_id)
        assert (run.status, run.attempt) == (Status.SUCCEEDED, 2)
        await until(lambda: len(s.worker.tasks) == 0)
    assert most == [1, 1]
