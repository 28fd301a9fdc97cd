"""What tests of a fleet do again and again: start, wait for a place in a run, cancel, look."""

import asyncio
from typing import Any

import httpx

from tests.api.reading import events_in, start, stream
from tests.fleet.fleet import Fleet, Member
from tests.fleet.quiet import query

QUESTION = "How does a cancel reach a run on another worker?"


async def begun(client: httpx.AsyncClient, **more: Any) -> str:
    """A thread whose run executes and writes: its first token is out."""
    thread_id = await start(client, QUESTION, review_plan=False, **more)
    await reached(client, thread_id, "token")
    return thread_id


async def reached(
    client: httpx.AsyncClient, thread_id: str, name: str, **data: Any
) -> tuple[str, list[str]]:
    """Follows until an event of that name, with that data; its id, and all ids so far."""
    ids: list[str] = []
    async with asyncio.timeout(60), stream(client, thread_id) as response:
        assert response.status_code == 200, await response.aread()
        async for event in events_in(response):
            ids.append(event.id)
            if event.name == name and data.items() <= event.data.items():
                return event.id, ids
    raise AssertionError(f"the stream ended before {name}")


async def cancelled(client: httpx.AsyncClient, thread_id: str) -> int:
    """The status of the answer to a stop."""
    response = await client.post(f"/api/threads/{thread_id}/cancel", json={})
    assert response.status_code in {200, 202}, response.text
    return response.status_code


async def runs_of(fleet: Fleet, thread_id: str) -> list[dict[str, Any]]:
    """The rows of a thread's runs, oldest first."""
    return await query(fleet, "SELECT * FROM runs WHERE thread_id = %s ORDER BY ordinal", thread_id)


async def events_of(fleet: Fleet, thread_id: str) -> list[tuple[int, int, str]]:
    """The durable timeline: epoch, sequence number, name."""
    rows = await query(
        fleet,
        "SELECT epoch, seq, name FROM timeline WHERE thread_id = %s ORDER BY epoch, seq",
        thread_id,
    )
    return [(row["epoch"], row["seq"], row["name"]) for row in rows]


async def ready(member: Member) -> tuple[bool, str]:
    """What /readyz says; an answer in words where it is not ready."""
    async with member.client() as client:
        response = await client.get("/readyz")
        return response.status_code == 200, response.text


async def until_ready(member: Member, *, yes: bool, seconds: float = 15) -> str:
    async with asyncio.timeout(seconds):
        while True:
            is_ready, said = await ready(member)
            if is_ready is yes:
                return said
            await asyncio.sleep(0.05)
