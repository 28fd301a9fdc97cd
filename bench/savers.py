"""Savers: one for each run, fenced, against one that all share; and cancels in their writes.

100 runs of ten nodes at once, with next to no state, over one pool of ten connections. A proxy
in a process of its own adds 2 ms to each round trip. The two ways take turns.
"""

import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from app.embedded import EmbeddedPostgres
from app.saver import RunSaver
from app.schema import prepare_schema
from bench import Figure
from registry.database import Database
from tests.app.tiny import BEGIN, NODES, chain, config_of, new_thread

RUNS: Final = 100
ROUNDS: Final = 5
POOL: Final = 10
ROUND_TRIP_MS: Final = 2.0
BOUND: Final = 0.5  # of the time that one shared saver takes
CANCELS: Final = 2000
CANCEL_TRIP_MS: Final = 20.0
PROJECT: Final = Path(__file__).parent.parent
PROXY: Final = """
import sys
from tests.proxy import Proxy
with Proxy(sys.argv[1]) as proxy:
    proxy.delay(up_ms=float(sys.argv[2]) / 2, down_ms=float(sys.argv[2]) / 2)
    print(proxy.url, flush=True)
    sys.stdin.read()
"""

Make = Callable[[Database, UUID], BaseCheckpointSaver[Any]]


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101 - under root the server is another user
        with EmbeddedPostgres.start(Path(folder)) as server:
            asyncio.run(prepare_schema(server.url))
            with slowed(server.url, ROUND_TRIP_MS) as url:
                yield from asyncio.run(compare(url))
            with slowed(server.url, CANCEL_TRIP_MS) as url:
                yield from asyncio.run(cancels(url, CANCELS))


@contextmanager
def slowed(url: str, round_trip_ms: float) -> Generator[str]:
    """The URL of the same database by way of a slower network."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROXY, url, str(round_trip_ms)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(timeout=10)
        process.stdout.close()


async def compare(url: str, *, runs: int = RUNS, rounds: int = ROUNDS) -> list[Figure]:
    database = Database(url, size=POOL)
    await database.open()
    try:
        shared = AsyncPostgresSaver(database.pool)
        ways: dict[str, Make] = {
            "one for all": lambda _database, _thread_id: shared,
            "one each": lambda database, thread_id: RunSaver(database, (thread_id, 1)),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for way in ways.values():  # once without a watch: connections and plans
            await _timed(database, way, runs // 4)
        for _ in range(rounds):
            for name, way in ways.items():
                times[name].append(await _timed(database, way, runs))
    finally:
        await database.close()
    alone, together = (statistics.median(times[name]) for name in ("one each", "one for all"))
    return [
        Figure(f"{runs} runs, one saver for all", round(together, 2), "s"),
        Figure(f"{runs} runs, a fenced one each", round(alone, 2), "s"),
        Figure("a fenced one each, share of the time", round(alone / together, 3), "", BOUND),
    ]


async def _timed(database: Database, make: Make, runs: int) -> float:
    """Seconds that so many runs at once take."""
    graph = chain()
    threads = [await new_thread(database) for _ in range(runs)]

    async def one(thread_id: UUID) -> None:
        run = graph.copy(update={"checkpointer": make(database, thread_id)})
        done = await run.ainvoke(BEGIN, config_of(thread_id), durability="sync")
        if done["count"] != NODES:
            raise AssertionError(done)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for thread_id in threads:
            group.create_task(one(thread_id))
    return time.perf_counter() - began


async def cancels(url: str, count: int, *, at_once: int = 20) -> list[Figure]:
    """So many runs, each cancelled at random in its checkpoint writes; what is left then."""
    database = Database(url, size=POOL)
    await database.open()
    rng = random.Random(44)
    graph = chain()
    slow = survivors = 0

    async def one() -> None:
        nonlocal slow, survivors
        thread_id = await new_thread(database)
        run = graph.copy(update={"checkpointer": RunSaver(database, (thread_id, 1))})
        task = asyncio.get_running_loop().create_task(
            run.ainvoke(BEGIN, config_of(thread_id), durability="sync")
        )
        await asyncio.sleep(rng.random() * 3 * CANCEL_TRIP_MS / 1000)
        if not task.cancel():
            return
        await asyncio.wait({task}, timeout=2)
        slow += not task.done()
        await asyncio.wait({task})
        survivors += not task.cancelled()

    async def some() -> None:
        for _ in range(count // at_once):
            await one()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(some())
        began = time.perf_counter()
        row = await database.fetch_one(
            """
            SELECT count(*) AS n FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend'
            """
        )
        took = 1000 * (time.perf_counter() - began)
        stats = database.pool.get_stats()
        backends = row["n"] if row is not None else 0
    finally:
        await database.close()
    lost = stats["pool_size"] - stats["pool_available"]
    return [
        Figure(f"{count} cancels in writes, runs that survived", survivors, "", 0),
        Figure("of them not over within 2 s", slow, "", 0),
        Figure("pool places lost", lost, "", 0),
        Figure("still waiting in the pool", stats["requests_waiting"], "", 0),
        Figure("backends beyond the pool", backends - stats["pool_size"], "", 0),
        Figure("a request afterwards", round(took, 1), "ms", 100),
    ]
