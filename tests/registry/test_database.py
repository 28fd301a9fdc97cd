"""The way to the database: who takes a connection gets a live one, and every call ends."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from registry.database import Database
from registry.errors import StoreDown
from registry.patience import patiently
from registry.pool import Limits
from tests.proxy import Proxy


@pytest.fixture
def proxy(database_url: str) -> Iterator[Proxy]:
    with Proxy(database_url) as made:
        yield made


@pytest.fixture
async def far(proxy: Proxy) -> AsyncIterator[Database]:
    """A pool of four, by way of the proxy."""
    made = Database(proxy.url, size=4)
    await made.open()
    yield made
    proxy.heal()
    await made.close()


async def busy(database: Database, count: int = 4) -> None:
    """All places of the pool at once, so that each has a connection."""

    async def hold() -> None:
        async with database.transaction() as tx:
            await gate.wait()
            await tx.fetch("SELECT 1")

    gate = asyncio.Barrier(count)
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(hold())


async def test_nobody_meets_a_connection_that_the_server_has_closed(
    far: Database, database: Database
) -> None:
    """As after a restart of the server, or its ending of idle sessions."""
    loop = asyncio.get_running_loop()
    for _ in range(5):
        await busy(far)
        mine = [c.info.backend_pid for c in far.pool._pool]
        assert len(mine) == 4
        await database.fetch("SELECT pg_terminate_backend(pid) FROM unnest(%(p)s) pid", {"p": mine})
        await database.fetch("SELECT pg_sleep(0.05)")  # for the good-byes to arrive
        began = loop.time()
        found = await asyncio.gather(*(far.fetch("SELECT 1 AS one") for _ in range(12)))
        assert found == [[{"one": 1}]] * 12
        assert loop.time() - began < 1


async def test_the_check_costs_no_round_trip(far: Database, proxy: Proxy) -> None:
    async def bare() -> None:
        async with far.pool.connection() as connection:
            await connection.execute("SELECT 1", {})

    async def checked() -> None:
        await far.fetch("SELECT 1", {})

    sent: dict[str, int] = {}
    for call in (bare, checked, bare, checked):
        for _ in range(16):  # prepared on all connections of the pool by then
            await call()
        before = proxy.bytes_up
        for _ in range(10):
            await call()
        sent[call.__name__] = proxy.bytes_up - before
    assert sent["checked"] == sent["bare"] > 0


async def test_an_idle_connection_whose_end_went_silent_is_found_out(
    far: Database, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing on the socket tells, as when a firewall forgot the connection."""
    monkeypatch.setattr("registry.database.IDLE_SECONDS", 0.05)
    monkeypatch.setattr("registry.database.CHECK_SECONDS", 0.2)
    await busy(far)
    proxy.drop()
    proxy.heal()
    await asyncio.sleep(0.06)
    assert await far.fetch("SELECT 1 AS one") == [{"one": 1}]


async def test_a_call_ends_within_its_limit(far: Database, proxy: Proxy) -> None:
    loop = asyncio.get_running_loop()
    await busy(far)
    began = loop.time()
    with pytest.raises(StoreDown, match="no answer within"):
        await far.fetch("SELECT pg_sleep(5)", limit=0.2)
    with pytest.raises(StoreDown, match="no answer within"):
        async with far.transaction(limit=0.2) as tx:
            await tx.fetch("SELECT pg_sleep(5)")
    assert loop.time() - began < 1
    proxy.pause()
    began = loop.time()
    with pytest.raises(StoreDown):
        await far.fetch("SELECT 1", limit=0.2)
    assert loop.time() - began < 0.5
    proxy.resume()
    assert await far.fetch("SELECT 1 AS one") == [{"one": 1}]


async def test_the_limit_is_of_all_statements_of_a_transaction(far: Database) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    done: list[int] = []
    with pytest.raises(StoreDown):
        await sleep_often(far, done)
    assert 2 <= len(done) <= 6
    assert loop.time() - began < 1


async def sleep_often(database: Database, done: list[int]) -> None:
    async with database.transaction(limit=0.5) as tx:
        for number in range(100):
            await tx.fetch("SELECT pg_sleep(0.1)")
            done.append(number)


async def test_the_pool_comes_back_for_those_who_wait_longer_than_it_tries(
    far: Database, proxy: Proxy
) -> None:
    """It gives up on its connections after four seconds; the outage takes six."""
    await busy(far)
    proxy.refuse()
    proxy.reset()
    loop = asyncio.get_running_loop()
    waiting = [loop.create_task(far.fetch("SELECT 1 AS one")) for _ in range(6)]
    await asyncio.sleep(6)
    assert not any(task.done() for task in waiting)
    proxy.heal()
    async with asyncio.timeout(3):
        assert await asyncio.gather(*waiting) == [[{"one": 1}]] * 6


async def test_patience_outlasts_the_outage_and_ends_with_it(
    far: Database, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.database.POOL_SECONDS", 0.2)
    await busy(far)
    proxy.refuse()
    proxy.reset()
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(StoreDown):
        await patiently(lambda: far.fetch("SELECT 1"), 0.5)
    assert loop.time() - began < 1.5
    task = loop.create_task(patiently(lambda: far.fetch("SELECT 1")))
    await asyncio.sleep(0.3)
    task.cancel()
    await asyncio.wait({task}, timeout=0.5)
    assert task.cancelled()
    task = loop.create_task(patiently(lambda: far.fetch("SELECT 1 AS one")))
    await asyncio.sleep(0.5)
    proxy.heal()
    async with asyncio.timeout(8):
        assert await task == [{"one": 1}]


@pytest.mark.parametrize("pooler", [False, True])
async def test_a_transaction_that_stands_still_is_ended_by_the_server(
    database_url: str, database: Database, pooler: bool
) -> None:
    """Its locks are gone for others then, and it is told so."""
    await database.execute("CREATE TABLE one AS SELECT 1 AS n")
    frozen = Database(database_url, size=2, pooler=pooler, limits=Limits(idle=0.3))
    await frozen.open()
    with pytest.raises(StoreDown):
        await stand_still(frozen, database)
    assert await frozen.fetch("SELECT n FROM one") == [{"n": 2}]
    await frozen.close()


async def stand_still(frozen: Database, other: Database) -> None:
    async with frozen.transaction() as tx:
        await tx.execute("UPDATE one SET n = 7")
        async with asyncio.timeout(3):
            await other.execute("UPDATE one SET n = 2")  # waits for the lock
        await tx.execute("UPDATE one SET n = 8")


async def test_a_migration_costs_a_running_worker_one_try(database: Database) -> None:
    """Its connections hold plans of before; they go, and the next one has none."""
    await database.execute("CREATE TABLE one AS SELECT 1 AS n")
    for _ in range(20):
        await database.fetch("SELECT * FROM one")
    await database.execute("ALTER TABLE one ADD COLUMN m int")
    tries = 0

    async def look() -> list[dict[str, object]]:
        nonlocal tries
        tries += 1
        return await database.fetch("SELECT * FROM one")

    for _ in range(5):
        assert await patiently(look, 5) == [{"n": 1, "m": None}]
    assert tries > 5  # else no plan was stale
    async with database.transaction() as tx:
        assert await tx.fetch("SELECT * FROM one") == [{"n": 1, "m": None}]
