"""The fence against whoever stood still: frozen at any point, it holds nobody up for long,
and changes nothing when it wakes up."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from uuid import UUID

import pytest
from langchain_core.runnables import RunnableConfig

from app.saver import _DEADLINE, RunSaver
from registry.database import Database
from registry.deadline import Deadline
from registry.errors import LeaseLost
from registry.pool import Limits
from tests.app.tiny import claim, is_one_chain, new_thread, written
from tests.app.writer import write
from tests.services import PROJECT

ROUNDS = 40
CLAIM_SECONDS = 1.0


class Writer:
    """The process of `tests.app.writer`."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.app.writer", url],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.says() == "ready"

    def says(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def write(self, thread_id: UUID, epoch: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{thread_id} {epoch}\n")
        self._process.stdin.flush()

    def freeze(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        self.wake()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def writer(database_url: str) -> Iterator[Writer]:
    made = Writer(database_url)
    yield made
    made.stop()


async def test_a_writer_that_is_stopped_at_random_is_out_once_another_claims(
    database: Database, writer: Writer
) -> None:
    rng = random.Random(39)
    loop = asyncio.get_running_loop()
    for number in range(ROUNDS):
        thread_id = await new_thread(database)
        await asyncio.to_thread(writer.write, thread_id, 1)
        assert await asyncio.to_thread(writer.says) == "writing"
        await asyncio.sleep(rng.random() * 0.05)
        writer.freeze()
        began = loop.time()
        epoch = await claim(database, thread_id)
        assert loop.time() - began < CLAIM_SECONDS, number
        before = await written(database, thread_id)
        assert before[0] >= 1
        writer.wake()
        assert await asyncio.to_thread(writer.says) == "lost"
        assert await written(database, thread_id) == before
        assert await is_one_chain(database, thread_id)
        successor = loop.create_task(write(RunSaver(database, (thread_id, epoch)), thread_id))
        while (await written(database, thread_id))[0] == before[0]:
            await asyncio.sleep(0.005)
        await claim(database, thread_id)
        await asyncio.wait({successor}, timeout=2)
        assert isinstance(successor.exception(), LeaseLost)


@pytest.fixture(params=[False, True], ids=["pipeline", "pooler"])
async def frozen(database_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """The pool of a worker that stands still in the middle of a write."""
    limits = Limits(idle=1.0, transaction=1.0)
    made = Database(database_url, size=2, pooler=request.param, limits=limits)
    await made.open()
    yield made
    await made.close()


INSERT = """
INSERT INTO checkpoint_writes
    (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob)
VALUES (%s, '', '1', 'task', '', 0, 'seen', 'null', '') ON CONFLICT DO NOTHING
"""


async def test_a_zombie_in_the_middle_of_a_write_does_not_hold_up_the_claim(
    database: Database, frozen: Database
) -> None:
    """Its rows are sent, its fence is not. The claim does not wait at all; a write of the
    same rows waits until the server has ended the zombie's transaction."""
    thread_id = await new_thread(database)
    arrived, awake = asyncio.Event(), asyncio.Event()

    async def zombie() -> None:
        _DEADLINE.set(Deadline(60))
        saver = RunSaver(frozen, (thread_id, 1))
        async with saver._cursor(pipeline=True) as cursor:
            await cursor.execute(INSERT, (str(thread_id),))
            arrived.set()
            await awake.wait()

    loop = asyncio.get_running_loop()
    task = loop.create_task(zombie())
    await arrived.wait()
    began = loop.time()
    epoch = await claim(database, thread_id)
    assert loop.time() - began < 0.5
    saver = RunSaver(database, (thread_id, epoch))
    config: RunnableConfig = {
        "configurable": {"thread_id": str(thread_id), "checkpoint_ns": "", "checkpoint_id": "1"}
    }
    await saver.aput_writes(config, [("seen", [1])], "task")
    assert loop.time() - began < 3
    awake.set()
    await asyncio.wait({task})
    assert task.exception() is not None
    rows = await database.fetch("SELECT channel, type FROM checkpoint_writes")
    assert rows == [{"channel": "seen", "type": "msgpack"}]


async def test_a_zombie_in_the_middle_of_a_write_is_fenced_when_it_goes_on(
    database: Database, frozen: Database
) -> None:
    thread_id = await new_thread(database)

    async def zombie() -> None:
        _DEADLINE.set(Deadline(60))
        saver = RunSaver(frozen, (thread_id, 1))
        async with saver._cursor(pipeline=True) as cursor:
            await cursor.execute(INSERT, (str(thread_id),))
            await claim(database, thread_id)

    with pytest.raises(LeaseLost):
        await zombie()
    assert await written(database, thread_id) == (0, 0, 0)
    stats = frozen.pool.get_stats()
    assert stats["pool_available"] == stats["pool_size"]
