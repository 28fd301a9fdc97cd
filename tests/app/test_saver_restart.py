"""A Postgres that restarts under runs that write: they wait, and go on where they were."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.embedded import EmbeddedPostgres
from app.postmaster import PidFile
from app.saver import RunSaver
from app.schema import prepare_schema
from registry.database import Database
from tests.app.tiny import BEGIN, NODES, Tiny, chain, config_of, is_one_chain, new_thread, written
from tests.services import scratch

RUNS = 12
NODE_SECONDS = 0.1


@dataclass
class Mortal:
    """A server of the test's own, and the pool on it."""

    folder: Path
    server: EmbeddedPostgres
    database: Database

    async def stop(self) -> None:
        await asyncio.to_thread(self.server.stop)

    async def start(self) -> None:
        self.server = await asyncio.to_thread(EmbeddedPostgres.start, self.folder)


@pytest.fixture
async def mortal() -> AsyncIterator[Mortal]:
    folder = scratch("restart")
    server = await asyncio.to_thread(EmbeddedPostgres.start, folder)
    await prepare_schema(server.url)
    database = Database(server.url, size=5)
    await database.open()
    made = Mortal(folder, server, database)
    yield made
    await database.close()
    await made.stop()
    shutil.rmtree(folder)


@pytest.mark.parametrize("down_seconds", [0.0, 3.0])
async def test_runs_go_on_after_a_restart(mortal: Mortal, down_seconds: float) -> None:
    ran = 0

    async def node(state: Tiny) -> dict[str, Any]:
        nonlocal ran
        ran += 1
        await asyncio.sleep(NODE_SECONDS)
        return {"count": state["count"] + 1, "seen": [*state["seen"], state["count"]]}

    graph = chain(node=node)
    database = mortal.database
    threads = [await new_thread(database) for _ in range(RUNS)]

    async def run(number: int) -> Any:
        saver = RunSaver(database, (threads[number], 1))
        mine = graph.copy(update={"checkpointer": saver})
        return await mine.ainvoke(BEGIN, config_of(threads[number]), durability="sync")

    loop = asyncio.get_running_loop()
    runs = [loop.create_task(run(number)) for number in range(RUNS)]
    async with asyncio.timeout(10):
        while ran < 3 * RUNS:
            await asyncio.sleep(0.01)
    before = PidFile.read(mortal.folder / "postgres")
    await mortal.stop()
    await asyncio.sleep(down_seconds)
    assert not any(task.done() for task in runs)
    await mortal.start()
    after = PidFile.read(mortal.folder / "postgres")
    assert before is not None
    assert after is not None
    assert before.pid != after.pid
    async with asyncio.timeout(20):
        done = await asyncio.gather(*runs)
    assert done == [{"count": NODES, "seen": list(range(NODES))}] * RUNS
    assert ran == RUNS * NODES  # no node was run again
    for thread_id in threads:
        assert await is_one_chain(database, thread_id)
        assert (await written(database, thread_id))[0] == NODES + 2
