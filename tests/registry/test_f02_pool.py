"""F02: a cancel of whoever waits in the pool is never lost, however it falls."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator

import pytest

import registry.database as module
import registry.deadline
from registry.database import Database
from registry.errors import StoreDown
from tests.proxy import Proxy

LOOPS = 200
WAITERS = 4
SOON = 1.0  # seconds; what is cancelled is over by then, while the database is frozen


@pytest.fixture
def proxy(database_url: str) -> Iterator[Proxy]:
    with Proxy(database_url) as made:
        yield made


@pytest.fixture
async def single(proxy: Proxy) -> AsyncIterator[Database]:
    """A pool of one connection, by way of the proxy."""
    made = Database(proxy.url, size=1)
    await made.open()
    yield made
    proxy.heal()
    await made.close()


async def cancelled_in_time(task: "asyncio.Task[object]") -> bool:
    """Cancels it once: it has to end soon, and as cancelled unless it was done before."""
    if not task.cancel():
        return True
    await asyncio.wait({task}, timeout=SOON)
    return task.done() and task.cancelled()


async def whole(database: Database) -> bool:
    """All places are in the pool, and it serves at once."""
    async with asyncio.timeout(1):
        await database.fetch("SELECT 1")
    stats = database.pool.get_stats()
    return stats["pool_available"] == stats["pool_size"] and not stats["requests_waiting"]


async def wait_in_the_pool(database: Database, way: int) -> None:
    if way % 2:
        await database.fetch("SELECT 1")
    else:
        async with database.transaction() as tx:
            await tx.fetch("SELECT 1")


async def test_f02_a_frozen_database_holds_nobody_who_is_cancelled(
    proxy: Proxy, single: Database
) -> None:
    """The one connection waits for an answer that does not come; all others wait for it."""
    rng = random.Random(2)
    loop = asyncio.get_running_loop()
    for number in range(LOOPS):
        proxy.pause()
        holder = loop.create_task(single.fetch("SELECT 1"))
        waiters = [loop.create_task(wait_in_the_pool(single, n)) for n in range(WAITERS)]
        await asyncio.sleep(rng.random() * 0.02)
        assert all([await cancelled_in_time(task) for task in waiters]), number
        proxy.resume()
        assert await holder == [{"?column?": 1}]
        assert await whole(single)


async def test_f02_cancels_while_connections_change_hands(single: Database) -> None:
    """The pool is busy and not frozen: cancels meet the moment in which a waiter is served."""
    rng = random.Random(3)
    loop = asyncio.get_running_loop()
    survivors = 0
    for _ in range(LOOPS):
        tasks = [loop.create_task(wait_in_the_pool(single, n)) for n in range(8)]
        await asyncio.sleep(rng.random() * 0.004)
        rng.shuffle(tasks)
        for task in tasks:
            if task.cancel():
                await asyncio.wait({task}, timeout=SOON)
                survivors += not task.cancelled()
        await asyncio.wait(tasks)
        assert all(task.cancelled() or task.exception() is None for task in tasks)
    assert survivors == 0
    assert await whole(single)


async def test_f02_a_cancel_in_the_check_is_no_failed_check(
    proxy: Proxy, single: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each connection is asked when it is taken, and the database is frozen then."""
    monkeypatch.setattr(module, "IDLE_SECONDS", -1)
    monkeypatch.setattr(module, "CHECK_SECONDS", 0.3)
    rng = random.Random(4)
    loop = asyncio.get_running_loop()
    for number in range(LOOPS // 20):
        proxy.pause()
        tasks = [loop.create_task(wait_in_the_pool(single, n)) for n in range(2)]
        await asyncio.sleep(rng.random() * 0.02)
        assert all([await cancelled_in_time(task) for task in tasks]), number
        proxy.resume()
        assert await whole(single)


async def test_f02_swallowed_bytes_end_a_call_that_nobody_cancels(
    proxy: Proxy, single: Database
) -> None:
    loop = asyncio.get_running_loop()
    for call in (
        lambda: single.fetch("SELECT 1", limit=0.3),
        lambda: single.execute("SELECT 1", limit=0.3),
        lambda: in_transaction(single, 0.3),
    ):
        assert await eventually_whole(single)
        half_open(proxy)
        began = loop.time()
        with pytest.raises(StoreDown):
            await call()
        assert loop.time() - began < 0.6
    assert await eventually_whole(single)


def half_open(proxy: Proxy) -> None:
    """What stands is silent for good; new connections work."""
    proxy.drop()
    proxy.heal()


async def in_transaction(database: Database, limit: float) -> None:
    async with database.transaction(limit=limit) as tx:
        await tx.execute("SELECT 1")


async def eventually_whole(database: Database) -> bool:
    """The pool gets itself a new connection for the one that was lost."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await whole(database)
            except (StoreDown, TimeoutError):
                continue


async def test_f02_swallowed_bytes_end_a_transaction_and_a_cancel(
    proxy: Proxy, single: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of one: the statement fails in time, so does the way back, and what was
    cancelled ends within the grace."""
    monkeypatch.setattr(registry.deadline, "GRACE", 0.3)
    monkeypatch.setattr(module, "GRACE", 0.3)
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(ZeroDivisionError):
        await cut_in_the_middle(proxy, single)
    assert loop.time() - began < 1
    assert await eventually_whole(single)

    half_open(proxy)
    task = loop.create_task(single.fetch("SELECT 1"))
    await asyncio.sleep(0.05)
    assert await cancelled_in_time(task)
    assert await eventually_whole(single)


async def cut_in_the_middle(proxy: Proxy, database: Database) -> None:
    async with database.transaction() as tx:
        await tx.execute("SELECT 1")
        half_open(proxy)
        raise ZeroDivisionError
