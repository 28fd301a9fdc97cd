"""What becomes of a run whose worker dies: both policies, and a run that kills its workers."""

import asyncio

import httpx
import pytest

from tests.api.reading import is_problem, start, state
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import quiet
from tests.reader import wait_for

QUESTION = "How does a cancel reach a run on another worker?"
pytestmark = pytest.mark.usefixtures("_template")


async def test_a_run_that_kills_its_workers_ends_failed_and_resumes_afresh() -> None:
    with Fleet(2, {"MAX_ATTEMPTS": "3"}, model="sim-20x200") as fleet:
        async with fleet[0].client() as a:
            thread = await start(a, QUESTION, review_plan=False)
        for attempt in (1, 2, 3):
            place = (attempt - 1) % 2
            async with fleet[place].client() as owner:
                running = await wait_for(owner, thread, "running", seconds=30)
            assert running["run"]["attempt"] == attempt
            await fleet.simulator.until(lambda stats: stats.open > 0, 20)
            fleet[place].kill()
            if attempt < 3:
                other = fleet[1 - place]
                if not other.alive:
                    other.restart()
                async with other.client() as watcher:
                    await _attempt(watcher, thread, attempt + 1)
        other = fleet[1]
        other.restart()
        async with other.client() as client:
            ended = await wait_for(client, thread, "failed", seconds=20)
            assert ended["run"]["problem"]["type"] == "/problems/attempts-exhausted"
            answer = await client.post(f"/api/threads/{thread}/resume", json={})
            assert answer.status_code == 202
            assert (await wait_for(client, thread, "running"))["run"]["attempt"] == 1
            await client.post(f"/api/threads/{thread}/cancel", json={"wait": True})
            await wait_for(client, thread, "cancelled")
        fleet.mend()
        await quiet(fleet)


async def _attempt(client: httpx.AsyncClient, thread: str, number: int) -> None:
    """Returns once the run executes as its so many-th attempt."""
    async with asyncio.timeout(20):
        while True:
            now = await state(client, thread)
            if (now["run"]["attempt"], now["status"]) == (number, "running"):
                return
            await asyncio.sleep(0.02)


async def test_with_prompt_the_reader_decides_unless_nothing_is_left() -> None:
    with Fleet(2, {"RECOVER": "prompt"}, model="sim-20x200") as fleet:
        async with fleet[0].client() as a, fleet[1].client() as b:
            busy = await start(a, QUESTION, review_plan=False)
            waits = await start(a, QUESTION)
            await wait_for(a, waits, "waiting")
            await wait_for(a, busy, "running")
            await fleet.simulator.until(lambda stats: stats.open > 0, 20)
            fleet[0].kill()
            now = await wait_for(b, busy, "interrupted", seconds=20)
            assert now["interrupted_by_restart"]
            assert (await state(b, waits))["status"] == "waiting"
            answer = await b.post(
                f"/api/threads/{busy}/answer",
                json={"interrupt_id": "x", "value": {"action": "approve"}},
            )
            is_problem(answer, 409, "not-waiting")
            assert (await b.post(f"/api/threads/{busy}/resume", json={})).status_code == 202
            now = await wait_for(b, busy, "running")
            assert not now["interrupted_by_restart"]
            await b.post(f"/api/threads/{busy}/cancel", json={"wait": True})
            await wait_for(b, busy, "cancelled")
        fleet.mend()
        await quiet(fleet)
