"""The run lifecycle on a real Postgres: starts, cancels, answers, requirements, orphans."""

import asyncio
from uuid import uuid4

import pytest

from registry.database import Database
from registry.errors import (
    AlreadyAnswered,
    AnswerNeeded,
    NotFound,
    NothingLeft,
    NotWaiting,
    RunActive,
    Stopping,
    UnknownInterrupt,
)
from registry.events import EventId
from registry.idempotency import IdempotencyKey
from registry.run import Emit, Interrupt, Outcome, Run, Status
from tests.registry.stage import stage
from tests.waiting import until


async def forever(run: Run, emit: Emit) -> Outcome:
    emit("token", {"section": 0, "text": "x"})
    await asyncio.Event().wait()
    raise AssertionError


async def at_once(run: Run, emit: Emit) -> Outcome:
    emit("token", {"section": 0, "text": "x"})
    return Outcome("succeeded", title="better title")


async def asks(run: Run, emit: Emit) -> Outcome:
    if run.kind == "answer":
        return Outcome("succeeded")
    return Outcome("waiting", interrupts=(Interrupt("i-1", "review_plan", {"steps": []}),))


async def test_a_run_starts_at_once_and_its_end_is_durable_before_its_event(
    database: Database,
) -> None:
    async with stage(database, at_once) as s:
        started = await s.start()
        assert started.status is Status.RUNNING
        assert await s.read(started.thread_id) == [
            ("1-1", "run.started"),
            ("1-2", "token"),
            ("1-3", "run.succeeded"),
        ]
        run = await s.commands.latest(started.thread_id)
        assert run.status is Status.SUCCEEDED
        assert len(s.worker.tasks) == 0
        assert (await s.commands.thread("ann", started.thread_id)).title == "better title"
        with pytest.raises(NothingLeft):
            await s.commands.resume("ann", started.thread_id)


async def test_cancel_ends_the_task_and_resume_makes_a_new_run(database: Database) -> None:
    async with stage(database, forever) as s:
        started = await s.start()
        with pytest.raises(RunActive):
            await s.commands.resume("ann", started.thread_id)
        run = await s.commands.cancel("ann", started.thread_id, by="ann", wait_seconds=5)
        assert run.status is Status.CANCELLED
        assert len(s.worker.tasks) == 0
        names = [name for _, name in await s.read(started.thread_id)]
        assert names == ["run.started", "token", "run.stopping", "run.cancelled"]
        again = await s.commands.cancel("ann", started.thread_id, by="ann")
        assert again == run
        resumed = await s.commands.resume("ann", started.thread_id)
        assert resumed.run_id != started.run_id
        assert (await s.commands.latest(started.thread_id)).epoch > run.epoch


async def test_while_stopping_other_commands_wait(database: Database) -> None:
    release = asyncio.Event()

    async def slow_to_end(run: Run, emit: Emit) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            while not release.is_set():  # outlasts the cancels, as a shielded clean-up would
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
        raise AssertionError

    async with stage(database, slow_to_end) as s:
        started = await s.start()
        await asyncio.sleep(0)
        run = await s.commands.cancel("ann", started.thread_id, by="ann")
        assert run.stopping
        for call in (
            s.commands.resume("ann", started.thread_id),
            s.commands.modify("ann", started.thread_id, body={"message": "more"}),
            s.commands.answer("ann", started.thread_id, interrupt_id="i", value=1),
        ):
            with pytest.raises(Stopping):
                await call
        release.set()
        assert (await s.until_ended(started.thread_id)).status is Status.CANCELLED


async def test_an_answer_is_taken_once_and_by_id(database: Database) -> None:
    async with stage(database, asks) as s:
        started = await s.start()
        events = await s.read(started.thread_id)
        assert [name for _, name in events] == ["run.started", "interrupt", "run.waiting"]
        with pytest.raises(AnswerNeeded):
            await s.commands.resume("ann", started.thread_id)
        with pytest.raises(UnknownInterrupt):
            await s.commands.answer("ann", started.thread_id, interrupt_id="other", value=1)
        both = await asyncio.gather(
            s.commands.answer("ann", started.thread_id, interrupt_id="i-1", value=1),
            s.commands.answer("ann", started.thread_id, interrupt_id="i-1", value=2),
            return_exceptions=True,
        )
        assert sorted(type(item).__name__ for item in both) == ["Accepted", "AlreadyAnswered"]
        assert (await s.until_ended(started.thread_id)).status is Status.SUCCEEDED
        with pytest.raises(AlreadyAnswered):
            await s.commands.answer("ann", started.thread_id, interrupt_id="i-1", value=3)
        with pytest.raises(NotWaiting):
            await s.commands.answer("ann", started.thread_id, interrupt_id="i-2", value=3)


async def test_a_waiting_run_holds_nothing_and_can_be_cancelled(database: Database) -> None:
    async with stage(database, asks) as s:
        started = await s.start()
        await s.until_ended(started.thread_id)
        await until(lambda: len(s.worker.tasks) == 0)
        run = await s.commands.cancel("ann", started.thread_id, by="ann")
        assert run.status is Status.CANCELLED
        events = await s.read(started.thread_id)
        assert events[-1] == ("2-1", "run.cancelled")


async def test_a_requirement_that_comes_too_late_starts_a_modify_run(database: Database) -> None:
    gate = asyncio.Event()
    kinds: list[str] = []

    async def last_node(run: Run, emit: Emit) -> Outcome:
        kinds.append(run.kind)
        if run.kind == "modify":
            await database.execute("UPDATE requirements SET status = 'applied'")
        await gate.wait()
        return Outcome("succeeded")

    async with stage(database, last_node) as s:
        started = await s.start()
        accepted = await s.commands.modify("ann", started.thread_id, body={"message": "m"})
        assert accepted.run_id is None
        gate.set()
        names = [name for _, name in await s.read(started.thread_id)]
        assert names == [
            "run.started",
            "requirement",
            "run.succeeded",
            "run.started",
            "run.succeeded",
        ]
        assert kinds == ["start", "modify"]


async def test_the_same_idempotency_key_is_the_same_run(database: Database) -> None:
    async with stage(database, at_once) as s:
        key = IdempotencyKey("k", b"digest")
        both = await asyncio.gather(s.start(key=key), s.start(key=key))
        assert both[0].run_id == both[1].run_id
        assert [item.repeated for item in both].count(True) == 1
        await s.until_ended(both[0].thread_id)
        assert (await s.start(key=key)).run_id == both[0].run_id
        assert (await s.start("bob", key=key)).run_id != both[0].run_id


async def test_what_belongs_to_another_is_not_found(database: Database) -> None:
    async with stage(database, asks) as s:
        thread_id = (await s.start("ann")).thread_id
        await s.until_ended(thread_id)
        for thread in (thread_id, uuid4()):
            for call in (
                s.commands.cancel("bob", thread, by="bob"),
                s.commands.resume("bob", thread),
                s.commands.answer("bob", thread, interrupt_id="i-1", value=1),
                s.commands.modify("bob", thread, body={"message": "m"}),
                s.commands.delete("bob", thread),
                s.commands.thread("bob", thread),
                s.commands.timeline("bob", thread),
            ):
                with pytest.raises(NotFound):
                    await call
        assert (await s.commands.history("bob"))[0] == []


async def test_slots_bound_what_runs_and_the_next_is_claimed(database: Database) -> None:
    gate = asyncio.Event()

    async def gated(run: Run, emit: Emit) -> Outcome:
        await gate.wait()
        return Outcome("succeeded")

    async with stage(database, gated, slots=1) as s:
        first, second = await s.start(), await s.start()
        assert (first.status, second.status) == (Status.RUNNING, Status.PENDING)
        gate.set()
        await s.until_ended(first.thread_id)
        await until(lambda: s.worker.free == 1)  # a moment after its end is committed
        await s.worker.claim_pending()
        names = [name for _, name in await s.read(second.thread_id)]
        assert names == ["run.queued", "run.started", "run.succeeded"]


async def test_a_pending_run_is_cancelled_at_once(database: Database) -> None:
    async with stage(database, forever, slots=1) as s:
        await s.start()
        second = await s.start()
        run = await s.commands.cancel("ann", second.thread_id, by="ann")
        assert run.status is Status.CANCELLED
        assert await s.read(second.thread_id) == [("1-1", "run.queued"), ("2-1", "run.cancelled")]


async def test_delete_cancels_and_removes_everything(database: Database) -> None:
    async with stage(database, forever) as s:
        started = await s.start()
        assert await s.commands.delete("ann", started.thread_id)
        with pytest.raises(NotFound):
            await s.commands.thread("ann", started.thread_id)
        for table in ("threads", "runs", "timeline"):
            rows = await database.fetch(f"SELECT 1 FROM {table}")
            assert rows == [], table
        assert len(s.worker.tasks) == 0
        assert len(s.logs) == 0


async def test_a_failure_says_why_and_leaves_the_thread_usable(database: Database) -> None:
    async def broken(run: Run, emit: Emit) -> Outcome:
        raise RuntimeError("nul \x00 and half \ud83d")

    async with stage(database, broken) as s:
        started = await s.start()
        run = await s.until_ended(started.thread_id)
        assert run.status is Status.FAILED
        assert run.problem is not None
        assert run.problem["title"] == "RuntimeError"
        assert (await s.commands.resume("ann", started.thread_id)).status is Status.RUNNING


async def test_an_answer_in_the_tick_of_the_commit_neither_fails_nor_overtakes(
    database: Database,
) -> None:
    """The waiting status is visible before the run's last event is out."""
    async with stage(database, asks) as s:
        for _ in range(25):
            started = await s.start()
            await s.until_ended(started.thread_id)
            await s.commands.answer("ann", started.thread_id, interrupt_id="i-1", value=1)
            names = [name for _, name in await s.read(started.thread_id, EventId(0, 0))]
            assert names == [
                "run.started",
                "interrupt",
                "run.waiting",
                "run.started",
                "run.succeeded",
            ]
