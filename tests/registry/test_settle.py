"""`settle`, `with_heartbeat` and the task registry under cancels at any moment."""

import asyncio
import random
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from registry.database import Database
from registry.errors import RunActive
from registry.heartbeat import BEAT, with_heartbeat
from registry.settle import settle
from registry.tasks import TaskRegistry


async def test_work_ends_before_the_cancel_goes_on() -> None:
    steps: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0.02)
        steps.append("work")

    async def caller() -> None:
        try:
            await settle(work())
        finally:
            steps.append("caller")

    async with asyncio.TaskGroup() as group:
        task = group.create_task(caller())
        await asyncio.sleep(0.005)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
    assert task.cancelled()
    assert steps == ["work", "caller"]


async def test_no_cancel_is_lost_over_a_busy_pool(database: Database) -> None:
    """On 3.11 the pool's own wait drops a cancel that comes with a connection."""
    rng = random.Random(5)
    stop = asyncio.Event()

    async def busy() -> None:
        while not stop.is_set():
            await database.fetch("SELECT pg_sleep(0.001)")

    async def query() -> None:
        while True:
            async with database.transaction() as tx:
                await tx.fetch("SELECT 1")
            await database.fetch("SELECT 1")

    registry = TaskRegistry()
    async with asyncio.TaskGroup() as group:
        for _ in range(6):
            group.create_task(busy())
        survivors = 0
        for _ in range(100):
            entry = registry.register(uuid4(), uuid4(), query())
            await asyncio.sleep(rng.random() * 0.01)
            registry.request_cancel(entry, "stop")
            if not await registry.ended(entry, 2):
                survivors += 1
        stop.set()
    assert survivors == 0
    assert len(registry) == 0
    stats = database.pool.get_stats()
    assert stats["pool_available"] == stats["pool_size"]
    assert stats.get("requests_waiting", 0) == 0
    await registry.close()


async def test_a_task_that_swallows_a_cancel_is_cancelled_again() -> None:
    swallowed = 0

    async def stubborn() -> None:
        nonlocal swallowed
        while swallowed < 3:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                swallowed += 1
        await asyncio.Event().wait()

    registry = TaskRegistry()
    entry = registry.register(uuid4(), uuid4(), stubborn())
    await asyncio.sleep(0)
    registry.request_cancel(entry, "stop")
    assert await registry.ended(entry, 2)
    assert swallowed == 3
    await registry.close()


async def test_one_live_task_per_thread_by_either_path() -> None:
    registry = TaskRegistry()
    thread_id, ran = uuid4(), asyncio.Event()

    async def work() -> None:
        ran.set()
        await asyncio.Event().wait()

    entry = registry.register(thread_id, uuid4(), work())
    with pytest.raises(RunActive):
        registry.register(thread_id, uuid4(), work())
    with pytest.raises(RunActive):
        registry.register_current(thread_id, uuid4())
    await ran.wait()
    registry.request_cancel(entry, "stop")
    assert await registry.ended(entry, 2)
    assert registry.get(thread_id) is None
    adopted = registry.register_current(thread_id, uuid4())
    assert registry.get(thread_id) is adopted
    registry.release(adopted)
    assert len(registry) == 0
    await registry.close()


async def test_a_heartbeat_never_cancels_the_read_it_watches() -> None:
    starts = 0

    async def slow() -> AsyncIterator[str]:
        nonlocal starts
        for item in ("a", "b"):
            starts += 1
            await asyncio.sleep(0.05)
            yield item

    out = [item async for item in with_heartbeat(slow(), 0.01)]
    assert [item for item in out if item is not BEAT] == ["a", "b"]
    assert out.count(BEAT) >= 4
    assert starts == 2


async def test_a_cancelled_reader_ends_the_stream_it_read() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                await asyncio.Event().wait()
                yield ""
        finally:
            closed.set()

    async def reader() -> None:
        async for _ in with_heartbeat(endless(), 0.01):
            pass

    async with asyncio.TaskGroup() as group:
        task = group.create_task(reader())
        await asyncio.sleep(0.03)
        task.cancel()
    assert task.cancelled()
    async with asyncio.timeout(1):
        await closed.wait()
