"""kill -9 in each phase of a run: it goes on elsewhere, in time, and nothing is paid twice."""

import asyncio
import time
from typing import Final

import pytest

from tests.fleet.acts import begun, runs_of
from tests.fleet.deaths import WRITING, Death, survive, usual_calls
from tests.fleet.fleet import LEASE, SCAN, Fleet
from tests.fleet.roamer import Roamer, all_end
from tests.reader import wait_for

# All nodes, one by one, are in the soak.
PHASES: Final = {
    "planning": (Death.in_node("plan"), Death.in_node("retrieve"), Death.in_node("analyse")),
    "writing": WRITING,
}
RUNS: Final = 20


@pytest.fixture(scope="module")
async def usual(standing: Fleet) -> int:
    standing.mend()
    return await usual_calls(standing)


@pytest.mark.parametrize("phase", PHASES)
async def test_killed_in_each_node_of(usual: int, fleet: Fleet, phase: str) -> None:
    assert await survive(fleet, PHASES[phase], usual=usual) >= 1


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


@pytest.mark.parametrize("end", ["killed", "thawed"])
async def test_an_owner_that_cannot_stop_any_more(fleet: Fleet, end: str) -> None:
    """A stop whose owner hears nothing: the worker that was asked ends the run itself, and it
    stays ended, whatever becomes of the owner."""
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread_id = await begun(a)
        fleet[0].freeze()
        began = time.monotonic()
        path = f"/api/threads/{thread_id}/cancel"
        response = await b.post(path, json={"wait": True})
        assert response.status_code == 200, response.text
        assert time.monotonic() - began < LEASE + SCAN + 1
        ended = await wait_for(b, thread_id, "cancelled", seconds=0)
        if end == "killed":
            fleet[0].kill()
        fleet[0].thaw()
        fleet.mend()
        await fleet.simulator.until(lambda stats: stats.open == 0)
        after = await wait_for(b, thread_id, "cancelled", seconds=0)
        assert after["run"] == ended["run"]
