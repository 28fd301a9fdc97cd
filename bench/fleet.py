"""Two workers: how soon a cancel arrives, how late a reader elsewhere is, what a kill costs.

Real processes on one Postgres and one Redis, against the model simulator. Cancels go to the
worker that does not execute the run, once with Redis and once with Redis dead; a cancel has
arrived when the model's socket is closed. The same stream is read on both workers at once;
1,000 readers join on the other one at random moments. A worker with 20 runs is killed.
"""

import asyncio
import random
import re
import signal
import time
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import httpx

from bench import Figure
from tests.api.reading import start, stream
from tests.api.running import Running
from tests.conftest import migrated
from tests.reader import Reader, wait_for
from tests.services import RedisServer, databases
from tests.simulator import Simulator
from tests.waiting import until

QUESTION: Final = "How does a cancel reach a run on another worker?"
LEASE: Final = 3.0
SCAN: Final = 2.0
FRAME_ID: Final = re.compile(rb"^id: (\d+)-(\d+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Counts:
    """How much of everything; a test takes a tenth."""

    cancels: int = 100
    deaf_cancels: int = 20
    streams: int = 10
    joins: int = 1000
    killed: int = 20


@dataclass(frozen=True)
class Pair:
    """`a` executes, `b` has no slot: what is asked of it is for `a`."""

    a: Running
    b: Running
    redis: RedisServer
    simulator: Simulator


def measure() -> Iterable[Figure]:
    yield from figures(Counts())


def figures(counts: Counts) -> Iterator[Figure]:
    with pair("sim-50x400") as two:
        yield from asyncio.run(_cancels(two, counts.cancels, "with Redis", 200))
        two.redis.stop()
        bound = (LEASE / 3 + 1) * 1000
        yield from asyncio.run(_cancels(two, counts.deaf_cancels, "without Redis", bound))
    with pair("sim-50x100") as two:
        yield from asyncio.run(_lateness(two, counts.streams))
    with pair("sim-300x3000") as two:
        yield from asyncio.run(_joins(two, counts.joins))
    with pair("sim-20x40") as two:
        yield from asyncio.run(_killed(two, counts.killed))


@contextmanager
def pair(model: str) -> Generator[Pair]:
    url = databases().fresh(migrated)
    redis = RedisServer()
    try:
        with Simulator() as simulator:
            settings = {
                "REDIS_URL": redis.url,
                "LEASE_SECONDS": str(LEASE),
                "ORPHAN_SCAN_SECONDS": str(SCAN),
                "OPENAI_BASE_URL": simulator.url,
                "MODEL": model,
                "LOG_LEVEL": "warning",
            }
            with Running(url, settings) as a, Running(url, settings) as b:
                a.indexed()
                yield Pair(a, b, redis, simulator)
    finally:
        redis.stop()
        databases().drop(url)


def _share(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


# -- cancels


async def _cancels(two: Pair, count: int, how: str, bound: float) -> list[Figure]:
    times: list[float] = []
    rng = random.Random(1)
    async with two.a.client() as here, two.b.client() as there:
        for _ in range(count):
            await asyncio.to_thread(two.simulator.reset)
            thread = await start(here, QUESTION, review_plan=False, depth="quick")
            await two.simulator.until(lambda s: s.open > 0, 30)
            await asyncio.sleep(rng.random() * 0.3)
            await two.simulator.until(lambda s: s.open > 0, 30)
            began = time.perf_counter()
            told = await there.post(f"/api/threads/{thread}/cancel", json={})
            told.raise_for_status()
            await asyncio.to_thread(_closed, two.simulator)
            times.append((time.perf_counter() - began) * 1000)
            await wait_for(there, thread, "cancelled")
    return [
        Figure(f"cancel through another worker {how}, p50", round(_share(times, 0.5), 1), "ms"),
        Figure(
            f"cancel through another worker {how}, p99", round(_share(times, 0.99), 1), "ms", bound
        ),
    ]


def _closed(simulator: Simulator) -> None:
    while simulator.stats().open:
        time.sleep(0.001)


# -- readers on both


async def _lateness(two: Pair, count: int) -> list[Figure]:
    late: list[float] = []
    async with two.a.client() as here, two.b.client() as there:
        threads = [
            await start(here, QUESTION, review_plan=False, depth="quick") for _ in range(count)
        ]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_arrivals(client, thread))
                for thread in threads
                for client in (here, there)
            ]
    for first, second in zip(tasks[::2], tasks[1::2], strict=True):
        owner, other = first.result(), second.result()
        if owner.keys() != other.keys():
            raise AssertionError("the two readers did not get the same events")
        late += [(other[event] - owner[event]) * 1000 for event in owner]
    return [
        Figure("events elsewhere after the owner's, p50", round(_share(late, 0.5), 1), "ms"),
        Figure("events elsewhere after the owner's, p99", round(_share(late, 0.99), 1), "ms", 150),
    ]


async def _arrivals(client: httpx.AsyncClient, thread: str) -> dict[tuple[int, int], float]:
    """When each event of the thread came, to the end."""
    seen: dict[tuple[int, int], float] = {}
    async with stream(client, thread) as response:
        async for ids in _ids(response):
            now = time.perf_counter()
            seen |= dict.fromkeys(ids, now)
    return seen


async def _ids(response: httpx.Response) -> AsyncIterator[list[tuple[int, int]]]:
    """The ids of whole frames, as they come; (0, 0) for a gap."""
    rest = b""
    async for data in response.aiter_raw():
        whole, found, rest = (rest + data).rpartition(b"\n\n")
        if not found:
            continue
        ids = [(int(m[1]), int(m[2])) for m in FRAME_ID.finditer(whole)]
        yield ids + [(0, 0)] * whole.count(b"event: gap\n")


# -- joins


@dataclass
class Tally:
    """Of all joins: how many there were, how many events were missed or came twice."""

    wanted: int
    done: int = 0
    lost: int = 0
    doubled: int = 0


async def _joins(two: Pair, count: int) -> list[Figure]:
    tally = Tally(count)
    async with two.a.client() as here, two.b.client() as there:
        while tally.done < tally.wanted:
            thread = await start(here, QUESTION, review_plan=False)
            await _joins_on(thread, here, there, tally)
    return [
        Figure("joins on another worker", tally.done, ""),
        Figure("events lost in them", tally.lost, "", 0),
        Figure("events doubled in them", tally.doubled, "", 0),
    ]


async def _joins_on(
    thread: str, here: httpx.AsyncClient, there: httpx.AsyncClient, tally: Tally
) -> None:
    """Eight readers at a time come and go while the run is being written."""
    rng = random.Random(tally.done)
    begun, over = asyncio.Event(), asyncio.Event()

    async def watch() -> None:
        async with stream(here, thread) as response:
            async for ids in _ids(response):
                if ids and ids[-1][1] > 50:
                    begun.set()
        begun.set()
        over.set()

    async def come_and_go() -> None:
        while not over.is_set() and tally.done < tally.wanted:
            tally.done += 1
            lost, doubled = await _join(there, thread, rng)
            tally.lost, tally.doubled = tally.lost + lost, tally.doubled + doubled

    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        await begun.wait()
        for _ in range(8):
            group.create_task(come_and_go())


async def _join(client: httpx.AsyncClient, thread: str, rng: random.Random) -> tuple[int, int]:
    """One reader with a cursor, for a random while: events that it missed, and had twice."""
    cursor = rng.randrange(40)
    stop = cursor + rng.randrange(20, 200)
    await asyncio.sleep(rng.random() * 0.02)
    expected, lost, doubled = cursor + 1, 0, 0
    async with stream(client, thread, after=f"1-{cursor}") as response:
        async for ids in _ids(response):
            for _, seq in ids:
                if seq == 0:
                    lost += 1  # a gap: nothing was to be lost here
                elif seq < expected:
                    doubled += 1
                else:
                    lost += seq - expected
                    expected = seq + 1
            if expected > stop:
                return lost, doubled
    return lost, doubled


# -- a death


async def _killed(two: Pair, count: int) -> list[Figure]:
    async with two.a.client() as here, two.b.client() as there:
        threads = [await start(here, QUESTION, review_plan=False) for _ in range(count)]
        readers = [Reader(here, thread) for thread in threads]
        tasks = [asyncio.get_running_loop().create_task(r.until_end()) for r in readers]
        await until(lambda: all(r.names.count("section.started") > 1 for r in readers), seconds=60)
        two.a.stop(signal.SIGKILL)
        began = time.monotonic()
        await asyncio.gather(*tasks, return_exceptions=True)
        written = [dict(reader.text.sections) for reader in readers]
        await two.simulator.until(lambda s: s.open == 0, 30)
        before = (await asyncio.to_thread(two.simulator.stats)).started
        await asyncio.gather(*(_runs_again(there, thread) for thread in threads))
        again = time.monotonic() - began
        changed = needed = 0
        for thread, old in zip(threads, written, strict=True):
            now = await wait_for(there, thread, "succeeded", seconds=120)
            final = {(s["version"], s["index"]): s["markdown"] for s in now["values"]["sections"]}
            changed += sum(final[key] != text for key, text in old.items())
            needed += len(final) - len(old)
        calls = (await asyncio.to_thread(two.simulator.stats)).started - before
    return [
        Figure(f"kill -9 with {count} runs: all running elsewhere", again, "s", LEASE + SCAN),
        Figure("model calls above one per unfinished section", max(calls - needed, 0), "", 0),
        Figure("finished sections that changed", changed, "", 0),
    ]


async def _runs_again(client: httpx.AsyncClient, thread: str) -> None:
    """Returns once the run of a dead worker executes on another one."""
    async with stream(client, thread, after="1-0") as response:
        async for ids in _ids(response):
            if any(epoch > 1 for epoch, _ in ids):
                return
