"""The watchdog: a loop that is dead or stands still is started again; runs go on meanwhile."""

import asyncio

from registry.database import Database
from registry.errors import StoreDown
from registry.loops import Loop
from registry.run import Emit, Outcome, Run, Status
from registry.watchdog import Watchdog
from tests.registry.stage import stage
from tests.waiting import until


async def test_a_loop_that_stands_still_is_cancelled_and_started_again() -> None:
    ended: list[str] = []
    calls = 0

    async def stuck_once() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("first")

    loop = Loop("stuck", 0.01, stuck_once, patience=0.2)
    dog = Watchdog([loop])
    async with dog.watching():
        await until(lambda: loop.age is not None and loop.age > 0.2)
        await dog.look()
        await until(lambda: calls > 2)
        assert ended == ["first"]
        assert loop.restarts == 1
        assert not loop.late


async def test_a_dead_loop_is_started_again() -> None:
    calls = 0

    async def dies_once() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise asyncio.CancelledError  # nothing else ends a loop

    loop = Loop("dying", 0.01, dies_once)
    dog = Watchdog([loop])
    async with dog.watching():
        await until(lambda: calls >= 1)
        await dog.look()
        await until(lambda: calls > 2)
        assert loop.restarts == 1


async def test_one_that_will_not_end_is_never_run_twice() -> None:
    release = asyncio.Event()
    running = most = 0

    async def stubborn() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        running -= 1

    loop = Loop("stubborn", 0.01, stubborn, patience=0.05)
    dog = Watchdog([loop])
    async with dog.watching():
        await until(lambda: loop.late)
        await dog.look()
        assert loop.restarts == 0
        release.set()
        await until(lambda: not loop.late)
    assert most == 1


async def test_a_failing_loop_backs_off_and_recovers() -> None:
    calls = 0

    async def fails() -> None:
        nonlocal calls
        calls += 1
        if calls <= 2:
            raise StoreDown("away")

    loop = Loop("failing", 0.0, fails)
    async with Watchdog([loop]).watching():
        await until(lambda: loop.failures == 1)
        loop.wake()  # must not turn it into a busy loop
        before = calls
        await asyncio.sleep(0.1)
        assert calls == before
        await until(lambda: calls > 3)
        assert loop.failures == 0


async def test_runs_go_on_while_every_loop_is_restarted(database: Database) -> None:
    gate = asyncio.Event()

    async def gated(run: Run, emit: Emit) -> Outcome:
        await gate.wait()
        return Outcome("succeeded")

    async with stage(database, gated) as s:
        dog = Watchdog(s.worker.loops)
        async with dog.watching():
            started = await s.start()
            for loop in s.worker.loops:
                loop.beat = -1e9  # as if it had stood still
                await dog.look()
                assert loop.restarts == 1
            gate.set()
            assert (await s.until_ended(started.thread_id)).status is Status.SUCCEEDED
            second = await s.start()
            assert (await s.until_ended(second.thread_id)).status is Status.SUCCEEDED
