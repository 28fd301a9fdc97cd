"""F18: SIGTERM under load: runs go on elsewhere from where they were, readers miss nothing."""

import asyncio
import signal
import time

import pytest

from tests.api.reading import start
from tests.fleet.acts import QUESTION, begun, runs_of
from tests.fleet.fleet import DRAIN, Fleet
from tests.fleet.quiet import quiet
from tests.fleet.roamer import Roamer, all_end
from tests.reader import wait_for

RUNS = 10


async def test_f18_ten_runs_with_readers_survive_a_drain(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        response = await a.post("/api/threads", json={"question": "q?", "clarify": False})
        waiting = response.json()["thread_id"]
        await wait_for(a, waiting, "waiting")
        threads = await asyncio.gather(*(begun(a) for _ in range(RUNS)))
        owner = (await runs_of(fleet, threads[0]))[0]["worker_id"]
        readers = [Roamer(fleet, thread_id) for thread_id in threads]
        async with asyncio.TaskGroup() as group:
            group.create_task(all_end(readers, seconds=60))
            began = time.monotonic()
            assert await asyncio.to_thread(fleet[0].term) == 0
            assert time.monotonic() - began < DRAIN
            for thread_id in threads:
                run = (await runs_of(fleet, thread_id))[0]
                assert (run["status"], run["worker_id"]) != ("running", owner), run
        for reader in readers:
            await reader.has_all(b)
        for thread_id in threads:
            runs = await runs_of(fleet, thread_id)
            assert [(run["status"], run["attempt"]) for run in runs] == [("succeeded", 1)]
        assert (await runs_of(fleet, waiting))[0]["status"] == "waiting"
        log = fleet[0].running.log.read_text()
        assert "drain_finished" in log


async def test_f18_a_second_signal_hurries(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        threads = await asyncio.gather(*(begun(a) for _ in range(5)))
        process = fleet[0].running.process
        process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.1)  # the case's own time between the two
        began = time.monotonic()
        assert await asyncio.to_thread(fleet[0].term) == 0
        assert time.monotonic() - began < DRAIN / 2
        for thread_id in threads:
            done = await wait_for(b, thread_id, "succeeded", seconds=30)
            assert done["run"]["attempt"] == 1


async def test_f18_killed_in_the_middle_of_a_drain(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        threads = await asyncio.gather(*(begun(a) for _ in range(5)))
        readers = [Roamer(fleet, thread_id) for thread_id in threads]
        async with asyncio.TaskGroup() as group:
            group.create_task(all_end(readers, seconds=60))
            fleet[0].running.process.send_signal(signal.SIGTERM)
            while "drain_started" not in fleet[0].running.log.read_text():
                await asyncio.sleep(0.002)
            fleet[0].kill()
        for reader in readers:
            await reader.has_all(b)
        for thread_id in threads:
            (run,) = await runs_of(fleet, thread_id)
            # 1: it was handed back before the kill; 2: the scan found it.
            assert run["status"] == "succeeded"
            assert run["attempt"] <= 2


@pytest.mark.usefixtures("_template")
async def test_f18_a_sole_worker_with_its_slots_full_leaves_all_of_them_resumable() -> None:
    """Three execute, two wait for a slot, one waits at an interrupt; nobody else is there to
    take them. The next process carries all of them on, each from where it was."""
    with Fleet(1, {"MAX_RUNS": "3"}) as fleet:
        async with fleet[0].client() as a:
            response = await a.post("/api/threads", json={"question": "q?", "clarify": False})
            waiting = response.json()["thread_id"]
            await wait_for(a, waiting, "waiting")
            threads = await asyncio.gather(*(begun(a) for _ in range(3)))
            threads += [await start(a, QUESTION, review_plan=False) for _ in range(2)]
            statuses = [(await runs_of(fleet, thread_id))[0]["status"] for thread_id in threads]
            assert statuses == ["running"] * 3 + ["pending"] * 2
        began = time.monotonic()
        assert await asyncio.to_thread(fleet[0].term) == 0
        assert time.monotonic() - began < DRAIN
        for thread_id in [*threads, waiting]:
            (run,) = await runs_of(fleet, thread_id)
            assert run["status"] in {"pending", "interrupted", "waiting"}, run
        log = fleet[0].running.log.read_text()
        assert "pool is closed" not in log
        assert "Traceback" not in log
        fleet[0].restart()
        async with fleet[0].client() as a:
            for thread_id in threads:
                await wait_for(a, thread_id, "succeeded", seconds=60)
                (run,) = await runs_of(fleet, thread_id)
                assert run["attempt"] == 1
            assert (await runs_of(fleet, waiting))[0]["status"] == "waiting"
        await quiet(fleet)
