"""The stream as a client meets it: at once, with beats, cut by age, over again without loss."""

import asyncio
import random
import time

import httpx

from tests.api.eventstream import Received
from tests.api.reading import (
    approve,
    events_in,
    finished,
    follow,
    names,
    start,
    state,
    stream,
    waiting,
)

QUESTION = "How much honey does a colony of bees need for the winter?"


async def test_headers_and_the_first_byte(client: httpx.AsyncClient) -> None:
    thread = await waiting(client, QUESTION)
    times: list[float] = []
    for _ in range(5):
        began = time.perf_counter()
        async with stream(client, thread) as response:
            first = await anext(response.aiter_raw())
            times.append(time.perf_counter() - began)
            assert first.startswith(b": open\nretry: ")
    assert min(times) < 0.1
    async with stream(client, thread) as response:
        headers = response.headers
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-cache, no-transform"
    assert headers["x-accel-buffering"] == "no"
    assert "content-encoding" not in headers
    assert "server" not in headers


async def test_f21_a_cursor_past_the_end_is_a_gap_and_then_the_end(
    client: httpx.AsyncClient,
) -> None:
    thread = await waiting(client, QUESTION)
    for cursor in ("999999999999999999-999999999999999999", "7-1"):
        events = await follow(client, thread, after=cursor)
        assert names(events) == ["gap", "run.waiting"]
        assert events[0].data["after"] == cursor
        assert events[0].id == ""


async def test_the_header_wins_over_the_parameter(client: httpx.AsyncClient) -> None:
    thread = await waiting(client, QUESTION)
    everything = await follow(client, thread, after="0-0")
    third = everything[2].id
    assert await follow(client, thread, after="0-0", seen=third) == everything[3:]
    assert await follow(client, thread, after=third, seen="nonsense") == everything[3:]


async def test_every_place_of_a_finished_stream_can_be_the_start(
    client: httpx.AsyncClient,
) -> None:
    thread = await finished(client, QUESTION)
    everything = await follow(client, thread, after="0-0")
    assert names(everything)[-1] == "run.succeeded"
    for place in random.Random(36).sample(range(len(everything) - 1), 10):
        rest = await follow(client, thread, seen=everything[place].id)
        assert rest == everything[place + 1 :]


async def _reconnecting(client: httpx.AsyncClient, thread: str, seed: int) -> list[Received]:
    """Reads a few events at a time, leaves, and comes back with the last id it has."""
    dice, got, seen = random.Random(seed), list[Received](), None
    while not got or got[-1].name not in ("run.succeeded", "run.waiting"):
        async with stream(client, thread, seen=seen) as response:
            assert response.status_code == 200
            left = dice.randint(1, 4)
            async for event in events_in(response):
                got.append(event)
                seen, left = event.id, left - 1
                if left == 0:
                    break
    return got


async def test_f26_readers_who_come_and_go_read_what_one_who_stays_reads(
    client: httpx.AsyncClient,
) -> None:
    thread = await waiting(client, QUESTION)
    await approve(client, thread)
    async with asyncio.TaskGroup() as group:
        stays = group.create_task(follow(client, thread))
        others = [group.create_task(_reconnecting(client, thread, seed)) for seed in range(3)]
    assert names(stays.result())[-1] == "run.succeeded"
    for other in others:
        assert other.result() == stays.result()
    assert (await state(client, thread))["status"] == "succeeded"


async def test_two_ends_of_a_run_are_the_durable_status(client: httpx.AsyncClient) -> None:
    thread = await start(client, QUESTION)
    response = await client.post(f"/api/threads/{thread}/cancel", json={"wait": True})
    assert response.status_code == 200
    events = await follow(client, thread, after="0-0")
    ends = [name for name in names(events) if name in ("run.cancelled", "run.waiting")]
    if ends[0] == "run.waiting":  # it was faster than the cancel, which may end it once more
        ends = ends[1:] or ends
    assert ends == [f"run.{(await state(client, thread))['status']}"]
