"""F23: heavy reading never starves the loop: streams flow, leases hold, nothing is done twice."""

import asyncio
import itertools
import json
import time
from collections.abc import Iterator
from functools import cache

import httpx
import pytest

from tests.api.reading import events_in, start, stream
from tests.fleet.acts import QUESTION, runs_of
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import query

NESTED = 40_000
GAP = 0.6  # seconds between two tokens: three times what the case asks of a machine of its own
SEEN = 45.0  # seconds until a new file is read


@cache
def heavy() -> dict[str, bytes]:
    """A page of 30 MB with deep nesting, and JSON of 5 MB on one line."""
    open_, close = b"<div>" * NESTED, b"</div>" * NESTED
    words = b"<p>" + b"a lease is kept by renewal " * 40 + b"</p>"
    filling = words * ((30_000_000 - len(open_) - len(close)) // len(words))
    return {
        "deep.html": b"<html><body>" + open_ + filling + close + b"</body></html>",
        "line.txt": json.dumps([{"key": "x" * 50}] * 80_000).encode(),
    }


@pytest.fixture
def heavier(fleet: Fleet) -> Iterator[Fleet]:
    """The files come into the folders of both workers; the one that indexes reads its own."""
    paths = [
        member.running.folder / "documents" / name for member in fleet.members for name in heavy()
    ]
    for path, data in zip(paths, itertools.cycle(heavy().values()), strict=False):
        path.write_bytes(data)
    yield fleet
    for path in paths:
        path.unlink()


async def statuses(fleet: Fleet) -> set[str]:
    rows = await query(
        fleet, "SELECT status FROM documents WHERE name = ANY(%s)", ["deep.html", "line.txt"]
    )
    return {row["status"] for row in rows} if len(rows) >= len(heavy()) else {"queued"}


async def read(fleet: Fleet) -> None:
    async with asyncio.timeout(SEEN):
        while not await statuses(fleet) <= {"ready", "failed"}:
            await asyncio.sleep(0.1)


async def watch(client: httpx.AsyncClient, thread_id: str, times: list[float]) -> None:
    """Times of the tokens; 0 where the model begins to think anew, which takes its time."""
    async with stream(client, thread_id) as response:
        async for event in events_in(response):
            if event.name == "section.started":
                times.append(0)
            elif event.name == "token":
                times.append(time.monotonic())


async def test_f23_huge_files_are_read_while_runs_stream(heavier: Fleet) -> None:
    fleet = heavier
    answers: list[float] = []

    async def probe(reading: asyncio.Task[None]) -> None:
        async with fleet[0].client() as client:
            while not reading.done():
                began = time.monotonic()
                (await client.get("/healthz")).raise_for_status()
                answers.append(time.monotonic() - began)
                await asyncio.sleep(0.05)

    async with fleet[0].client() as a, fleet[1].client() as b, asyncio.TaskGroup() as group:
        reading = group.create_task(read(fleet))
        group.create_task(probe(reading))
        seen: list[list[float]] = []
        while not reading.done():
            threads = [await start(client, QUESTION, review_plan=False) for client in (a, b)]
            times: list[list[float]] = [[], []]
            seen += times
            async with asyncio.TaskGroup() as both:
                for client, thread_id, into in zip((a, b), threads, times, strict=True):
                    both.create_task(watch(client, thread_id, into))
            for thread_id in threads:
                run = (await runs_of(fleet, thread_id))[0]
                assert (run["status"], run["attempt"]) == ("succeeded", 1)
    gaps = [
        late - early
        for times in seen
        for early, late in itertools.pairwise(times)
        if early > 0 and late > 0
    ]
    assert max(gaps) < GAP, max(gaps)
    assert max(answers) < GAP, max(answers)
