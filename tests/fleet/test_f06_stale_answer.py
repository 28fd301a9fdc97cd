"""F06: an answer is for its own question. A crash and a resume never answer the next one."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from tests.api.reading import is_problem, start, state
from tests.fleet.acts import QUESTION, reached, runs_of
from tests.fleet.fleet import LEASE, SCAN, Fleet
from tests.fleet.quiet import quiet
from tests.reader import wait_for


@pytest.fixture(scope="module")
def asking(_template: None) -> Iterator[Fleet]:
    """Its model asks what is meant, before the plan is shown for review."""
    with Fleet(2, model="sim-80x60-clarify") as made:
        yield made


async def clarified(client: httpx.AsyncClient, thread_id: str) -> str:
    """Answers the first question; the id of its interrupt."""
    first = (await wait_for(client, thread_id, "waiting"))["interrupts"][0]
    assert first["kind"] == "clarify"
    answer = {"interrupt_id": first["id"], "value": {"text": "the whole of it"}}
    response = await client.post(f"/api/threads/{thread_id}/answer", json=answer)
    assert response.status_code == 202, response.text
    return first["id"]


@pytest.mark.parametrize("killed", ["before the second question", "while it is open"])
async def test_f06_the_second_question_stays_open(asking: Fleet, killed: str) -> None:
    asking.mend()
    async with asking[0].client() as a, asking[1].client() as b:
        thread_id = await start(a, QUESTION, clarify=True)
        first = await clarified(a, thread_id)
        if killed == "while it is open":
            await wait_for(b, thread_id, "waiting")
            asking[0].kill()
        else:
            await reached(a, thread_id, "run.started")
            asking[0].kill()
            # The scan takes the run back, or it was over already.
            async with asyncio.timeout(LEASE + SCAN + 10):
                while (await runs_of(asking, thread_id))[-1]["status"] != "waiting":
                    await asyncio.sleep(0.05)
        now = await wait_for(b, thread_id, "waiting")
        (second,) = now["interrupts"]
        assert second["kind"] == "review_plan"
        assert second["id"] != first
        is_problem(await b.post(f"/api/threads/{thread_id}/resume", json={}), 409, "answer-needed")
        again = {"interrupt_id": first, "value": {"text": "once more"}}
        is_problem(
            await b.post(f"/api/threads/{thread_id}/answer", json=again), 409, "already-answered"
        )
        after = await state(b, thread_id)
        assert (after["status"], after["interrupts"]) == ("waiting", [second])
        assert not after["values"]["sections"]
    await quiet(asking)
