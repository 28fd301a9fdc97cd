"""A reader's session on 1,000 pages: how soon the service is ready, speaks, and is done.

Everything goes through the real server over HTTP, without a model: start to ready, the first
byte of a stream, health while the pages are indexed, the report of an early question, and of
questions once all is indexed, from the approval of the plan to the first token and the end.
"""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import httpx

from bench import Figure
from bench.library import PAGES, Prose, write_pages
from tests.api.reading import approve, start, state, stream
from tests.api.running import Running
from tests.reader import wait_for

QUESTIONS: Final = 10
OPENINGS: Final = 50


def measure() -> Iterable[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="research-bench-"))
    folder.chmod(0o755)
    try:
        write_pages(folder / "pages")
        settings = {"DATA_DIR": str(folder / "data"), "DATABASE_URL": ""}  # the embedded one
        with Running("", settings):
            pass  # the first start makes the database
        began = time.monotonic()
        with Running("", {**settings, "DOCUMENTS_DIR": str(folder / "pages")}) as server:
            yield Figure("start to ready", time.monotonic() - began, "s", 10)
            yield from asyncio.run(_session(server))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _session(server: Running) -> list[Figure]:
    prose = Prose(3)
    async with server.client() as client:
        early = await start(client, prose.question(), review_plan=False)
        health, indexing = await _health_until_indexed(client)
        told = (await client.get(f"/api/threads/{early}/report?format=md")).text
        openings = [await _first_byte(client, early) for _ in range(OPENINGS)]
        firsts, wholes = list[float](), list[float]()
        for _ in range(QUESTIONS):
            first, whole = await _from_approval(client, prose.question())
            firsts.append(first)
            wholes.append(whole)
    return [
        Figure("health while indexing, worst", max(health) * 1000, "ms"),
        Figure("indexed after", indexing, "s", 60),
        Figure(
            "early report says what was not indexed",
            int("not yet indexed" in told),
            "",
            1,
            "higher",
        ),
        Figure("first byte of a stream, worst", max(openings) * 1000, "ms", 100),
        Figure("approval to first token, worst", max(firsts), "s", 3),
        Figure("approval to report, worst", max(wholes), "s", 20),
    ]


async def _health_until_indexed(client: httpx.AsyncClient) -> tuple[list[float], float]:
    """Times of /healthz while the pages are being indexed, and how long that took."""
    began, times = time.monotonic(), list[float]()
    while True:
        asked = time.perf_counter()
        (await client.get("/healthz")).raise_for_status()
        times.append(time.perf_counter() - asked)
        documents = (await client.get("/api/runtime")).json()["documents"]
        if documents["indexed"] > PAGES and not documents["pending"]:
            return times, time.monotonic() - began
        await asyncio.sleep(0.1)


async def _first_byte(client: httpx.AsyncClient, thread: str) -> float:
    asked = time.perf_counter()
    async with stream(client, thread) as response:
        async for _ in response.aiter_raw():
            return time.perf_counter() - asked
    raise AssertionError("the stream ended without a byte")


async def _from_approval(client: httpx.AsyncClient, question: str) -> tuple[float, float]:
    """Seconds from the approval to the first token, and to the end of the stream."""
    thread = await start(client, question)
    await wait_for(client, thread, "waiting")
    approved, first = time.perf_counter(), None
    await approve(client, thread)
    async with stream(client, thread) as response:
        async for data in response.aiter_raw():
            if first is None and b"event: token" in data:
                first = time.perf_counter() - approved
    if first is None:
        raise AssertionError(f"no token came: {await state(client, thread)}")
    return first, time.perf_counter() - approved
