"""What a client does: start, follow, answer. Shared by the tests of the running server."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.api.eventstream import Parser, Received

ENDING = {"run.waiting", "run.succeeded", "run.failed", "run.cancelled", "run.interrupted"}
UNKNOWN = "00000000-0000-7000-8000-000000000000"


@asynccontextmanager
async def stream(
    client: httpx.AsyncClient, thread: str, *, after: str | None = None, seen: str | None = None
) -> AsyncGenerator[httpx.Response]:
    """The open event stream; `after` as the parameter, `seen` as the Last-Event-ID."""
    async with client.stream(
        "GET",
        f"/api/threads/{thread}/events",
        params={"after": after} if after is not None else {},
        headers={"Last-Event-ID": seen} if seen is not None else {},
    ) as response:
        yield response


async def events_in(response: httpx.Response) -> AsyncIterator[Received]:
    parser = Parser()
    async for chunk in response.aiter_raw():
        for event in parser.feed(chunk):
            yield event


async def follow(
    client: httpx.AsyncClient, thread: str, *, after: str | None = None, seen: str | None = None
) -> list[Received]:
    """All events to the end of the stream."""
    async with asyncio.timeout(60), stream(client, thread, after=after, seen=seen) as response:
        assert response.status_code == 200, await response.aread()
        return [event async for event in events_in(response)]


async def start(client: httpx.AsyncClient, question: str, **more: Any) -> str:
    """A thread on the question, without a question back; its id."""
    body = {"question": question, "clarify": False, "web": False, **more}
    response = await client.post("/api/threads", json=body)
    assert response.status_code == 202, response.text
    return response.json()["thread_id"]


async def state(client: httpx.AsyncClient, thread: str) -> dict[str, Any]:
    response = await client.get(f"/api/threads/{thread}/state")
    assert response.status_code == 200, response.text
    return response.json()


async def approve(client: httpx.AsyncClient, thread: str) -> None:
    interrupt = (await state(client, thread))["interrupts"][0]
    body = {"interrupt_id": interrupt["id"], "value": {"action": "approve"}}
    response = await client.post(f"/api/threads/{thread}/answer", json=body)
    assert response.status_code == 202, response.text


async def waiting(client: httpx.AsyncClient, question: str) -> str:
    """A thread that waits for its plan to be reviewed."""
    thread = await start(client, question)
    assert (await follow(client, thread))[-1].name == "run.waiting"
    return thread


async def finished(client: httpx.AsyncClient, question: str) -> str:
    """A thread with a report."""
    thread = await start(client, question, review_plan=False)
    assert (await follow(client, thread))[-1].name == "run.succeeded"
    return thread


def is_problem(response: httpx.Response, status: int, slug: str) -> None:
    """The response is that problem, in its media type and on one line."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["type"] == f"/problems/{slug}", body
    assert body["status"] == status
    assert body["title"]
    assert "\n" not in body["detail"]
    assert "Traceback" not in response.text


def names(events: Iterable[Received]) -> list[str]:
    return [event.name for event in events]
