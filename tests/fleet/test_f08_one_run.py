"""F08: whatever is asked of two workers at once, a thread has one run, and one chain of
checkpoints."""

import asyncio

import httpx

from tests.api.reading import approve, is_problem, start, state, waiting
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import query
from tests.reader import wait_for

QUESTION = "How does a cancel reach a run on another worker?"


async def test_f08_of_twenty_starts_on_one_thread_one_is_taken(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread = await start(a, QUESTION, review_plan=False)
        await a.post(f"/api/threads/{thread}/cancel", json={"wait": True})
        await wait_for(a, thread, "cancelled")
        answers = await asyncio.gather(
            *((a, b)[n % 2].post(f"/api/threads/{thread}/resume", json={}) for n in range(20))
        )
        assert [answer.status_code for answer in answers].count(202) == 1
        for answer in answers:
            if answer.status_code != 202:
                is_problem(answer, 409, "run-active")
        await wait_for(b, thread, "succeeded")
        await _one_chain(fleet, thread)


async def test_f08_two_answers_at_two_workers_are_one_answer(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread = await waiting(a, QUESTION)
        interrupt = (await state(a, thread))["interrupts"][0]["id"]
        body = {"interrupt_id": interrupt, "value": {"action": "approve"}}
        both = await asyncio.gather(
            *(c.post(f"/api/threads/{thread}/answer", json=body) for c in (a, b))
        )
        assert sorted(answer.status_code for answer in both) == [202, 409]
        await wait_for(a, thread, "succeeded")
        await _one_chain(fleet, thread)


async def test_f08_a_resume_waits_until_the_cancelled_run_has_really_ended(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread = await waiting(a, QUESTION)
        await approve(a, thread)
        for _ in range(5):
            cancel, resume = await asyncio.gather(
                a.post(f"/api/threads/{thread}/cancel", json={}), _resume(b, thread)
            )
            assert cancel.status_code in (200, 202)
            assert resume.status_code in (202, 409), resume.text
            if resume.status_code != 202:
                await wait_for(b, thread, "cancelled", "succeeded")
                if (await state(b, thread))["status"] == "succeeded":
                    break
                assert (await _resume(b, thread)).status_code == 202
        await wait_for(a, thread, "succeeded", "cancelled")
        await _one_chain(fleet, thread)


async def _resume(client: httpx.AsyncClient, thread: str) -> httpx.Response:
    return await client.post(f"/api/threads/{thread}/resume", json={})


async def _one_chain(fleet: Fleet, thread: str) -> None:
    """Each checkpoint on the way to the tip has one child: nothing forked."""
    rows = await query(
        fleet,
        "SELECT parent_checkpoint_id AS parent, count(*) AS children FROM checkpoints"
        " WHERE thread_id = %s AND checkpoint_ns = '' GROUP BY 1",
        thread,
    )
    assert rows
    assert {row["children"] for row in rows} == {1}, rows
