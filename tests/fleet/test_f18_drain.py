"""F18: SIGTERM under load: runs go on elsewhere from where they were, readers miss nothing."""

import asyncio
import signal
import time

from tests.fleet.acts import begun, runs_of
from tests.fleet.fleet import DRAIN, Fleet
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
