"""kill -9 in each phase of a run: it goes on elsewhere, in time, and nothing is paid twice."""

import asyncio
import time
from typing import Final

import pytest

from tests.api.reading import start
from tests.fleet.acts import QUESTION, begun, reached, runs_of
from tests.fleet.fleet import LEASE, SCAN, Fleet
from tests.fleet.roamer import Roamer, all_end

PHASES: Final = {
    "plan": ("node.started", {"node": "plan"}),
    "retrieve": ("node.started", {"node": "retrieve"}),
    "analyse": ("node.started", {"node": "analyse"}),
    "write": ("section", {}),
    "verify": ("node.started", {"node": "verify"}),
}
PARALLEL: Final = 5  # calls that one node may have under way when it is killed
RUNS: Final = 20


@pytest.fixture(scope="module")
async def calls(standing: Fleet) -> int:
    """How many calls a run makes that nothing happens to."""
    standing.mend()
    standing.simulator.reset()
    async with standing[0].client() as a:
        thread_id = await start(a, QUESTION, review_plan=False)
        await all_end([Roamer(standing, thread_id)], seconds=60)
    return standing.simulator.stats().started


@pytest.mark.parametrize("phase", PHASES)
async def test_killed_in(calls: int, fleet: Fleet, phase: str) -> None:
    name, data = PHASES[phase]
    async with fleet[0].client() as a, fleet[1].client() as b:
        fleet.simulator.reset()
        thread_id = await start(a, QUESTION, review_plan=False)
        reader = Roamer(fleet, thread_id)
        async with asyncio.TaskGroup() as group:
            group.create_task(all_end([reader], seconds=60))
            await reached(a, thread_id, name, **data)
            fleet[0].kill()
            began = time.monotonic()
            while (await runs_of(fleet, thread_id))[0]["attempt"] == 1:
                await asyncio.sleep(0.05)
            assert time.monotonic() - began < LEASE + SCAN + 1
        run = (await runs_of(fleet, thread_id))[0]
        assert (run["status"], run["attempt"]) == ("succeeded", 2)
        await reader.has_all(b)
        assert fleet.simulator.stats().started <= calls + PARALLEL


async def test_a_killed_worker_with_twenty_runs(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        threads = await asyncio.gather(*(begun(a) for _ in range(RUNS)))
        fleet[0].kill()
        began = time.monotonic()
        readers = [Roamer(fleet, thread_id, place=1) for thread_id in threads]
        async with asyncio.TaskGroup() as group:
            group.create_task(all_end(readers, seconds=60))
            for thread_id in threads:
                while (await runs_of(fleet, thread_id))[0]["attempt"] == 1:
                    await asyncio.sleep(0.05)
            assert time.monotonic() - began < LEASE + SCAN + 1
        for reader in readers:
            await reader.has_all(b)
