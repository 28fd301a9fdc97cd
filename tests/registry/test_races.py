"""Two transitions of one run in the same moment: who comes second sees what the first has done.

Each test holds the second one back at a row that the first has locked, so the order is fixed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any, Literal

import pytest

from registry.database import Database
from registry.errors import LeaseLost
from registry.events import EventId
from registry.requirements import insert_requirement, mark_announced
from registry.run import Interrupt, Outcome, Run, Status
from registry.store import intend_cancel
from registry.threads import lock_thread
from registry.transitions import Ended, claim_next, finish
from tests.registry.stage import Stage, stage

LEASE = 60.0


async def nobody(run: Run, emit: object) -> Outcome:
    raise AssertionError("no body runs here")


@pytest.fixture
async def people(database: Database) -> AsyncIterator[Stage]:
    """Commands at a worker that executes nothing."""
    async with stage(database, nobody, slots=0) as made:
        yield made


@pytest.fixture
async def run(people: Stage, database: Database) -> Run:
    """A run that a worker executes."""
    await people.start()
    placed = await claim_next(database, "owner", LEASE)
    assert placed is not None
    return placed.run


async def blocked(database: Database, sessions: int) -> None:
    """Returns once so many sessions wait for a lock."""
    async with asyncio.timeout(5):
        while True:
            (row,) = await database.fetch(
                """
                SELECT count(*) AS n FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            )
            if row["n"] == sessions:
                return
            await asyncio.sleep(0.01)


def ending(database: Database, run: Run, outcome: Outcome) -> Awaitable[Ended]:
    next_id = EventId(run.epoch, 2)
    return finish(database, run, outcome, next_id=next_id, claim=None, counters={})


@pytest.mark.parametrize("status", ["waiting", "failed", "succeeded"])
async def test_an_outcome_that_waited_for_a_stop_sees_it(
    database: Database, run: Run, status: Literal["waiting", "failed", "succeeded"]
) -> None:
    asks = (Interrupt("i", "clarify", {}),) if status == "waiting" else ()
    problem = {"type": "/problems/internal"} if status == "failed" else None
    async with asyncio.TaskGroup() as group, database.transaction() as tx:
        await lock_thread(tx, "ann", run.thread_id)
        await insert_requirement(tx, run.thread_id, {"message": "m"}, announced=True)
        assert await intend_cancel(tx, run.run_id, mode="stop", by="ann") is not None

        async def end() -> Ended:
            return await ending(database, run, Outcome(status, asks, problem))

        task = group.create_task(end())
        await blocked(database, 1)
    ended = task.result()
    # A success that is there stands; nothing else outruns the wish, and nothing follows.
    assert ended.status is (Status.SUCCEEDED if status == "succeeded" else Status.CANCELLED)
    assert ended.successor is None


async def test_a_stop_that_waited_for_a_hand_back_ends_the_run(
    people: Stage, database: Database, run: Run
) -> None:
    async with asyncio.TaskGroup() as group, database.transaction() as tx:
        await _lock(tx, run)
        back = group.create_task(people.worker.store.hand_back(run.run_id, run.epoch))
        await blocked(database, 1)
        stop = group.create_task(people.commands.cancel("ann", run.thread_id, by="ann"))
        await blocked(database, 2)
    assert back.result()
    assert stop.result().status is Status.CANCELLED
    assert await claim_next(database, "other", LEASE) is None


async def test_a_wish_that_waited_for_the_end_is_no_event_after_it(
    database: Database, run: Run
) -> None:
    async def announce() -> bool:
        try:
            async with database.transaction() as tx:
                await mark_announced(tx, run.thread_id, run.run_id, run.epoch)
        except LeaseLost:
            return False
        return True

    async def end() -> Ended:
        return await ending(database, run, Outcome("succeeded"))

    async with asyncio.TaskGroup() as group, database.transaction() as tx:
        await _lock(tx, run)
        group.create_task(end())
        await blocked(database, 1)
        announced = group.create_task(announce())
        await blocked(database, 2)
    assert not announced.result()


async def _lock(tx: Any, run: Run) -> None:
    """As a renewal does."""
    await tx.execute(
        "UPDATE runs SET lease_until = lease_until WHERE run_id = %(id)s", {"id": run.run_id}
    )
