"""Two workers on one database and one Redis, in one process: cancel, follow, modify anywhere."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from registry.database import Database
from registry.events import EventId
from registry.replicas import Replica
from registry.run import Emit, Outcome, Run, Status
from tests.registry.stage import Act, Stage, parse, stage
from tests.services import RedisServer, redis_server
from tests.waiting import until

COUNT = 400


async def forever(run: Run, emit: Emit) -> Outcome:
    emit("token", {"section": 0, "text": "x"})
    await asyncio.Event().wait()
    raise AssertionError


async def chatty(run: Run, emit: Emit) -> Outcome:
    for n in range(COUNT):
        emit("token", {"section": 0, "text": str(n)})
        if n % 5 == 0:
            await asyncio.sleep(0.004)
    return Outcome("succeeded")


@asynccontextmanager
async def two(database: Database, act: Act, **options: Any) -> AsyncGenerator[tuple[Stage, Stage]]:
    """The first executes `act`; the second has no free slot, so whatever it is asked to start
    stays pending for the first."""
    free: dict[str, Any] = {"redis": redis_server().url, **options}
    full: dict[str, Any] = {**free, "slots": 0}
    async with (
        stage(database, act, **free) as one,
        stage(database, act, **full) as other,
    ):
        yield one, other


async def test_a_cancel_on_another_worker_ends_the_run_soon(database: Database) -> None:
    async with two(database, forever) as (one, other):
        for _ in range(20):
            started = await one.start()
            began = time.perf_counter()
            run = await other.commands.cancel("ann", started.thread_id, by="ann", wait_seconds=5)
            assert run.status is Status.CANCELLED
            assert time.perf_counter() - began < 0.6
            names = [name for _, name in await other.read(started.thread_id)]
            assert names == ["run.started", "token", "run.stopping", "run.cancelled"]


async def test_a_reader_elsewhere_gets_every_event_once(database: Database) -> None:
    async with two(database, chatty) as (one, other):
        started = await one.start()
        here, there = await asyncio.gather(
            one.read(started.thread_id), other.read(started.thread_id)
        )
        assert there == here
        assert len(here) == COUNT + 2


async def test_joins_at_any_moment_lose_and_double_nothing(database: Database) -> None:
    rng = random.Random(7)
    async with two(database, chatty) as (one, other):
        started = await one.start()

        async def join() -> list[tuple[str, str]]:
            await asyncio.sleep(rng.random() * 0.4)
            return await other.read(started.thread_id, EventId(1, rng.randrange(60)))

        whole = await one.read(started.thread_id)
        for got in await asyncio.gather(*(join() for _ in range(100))):
            assert got == whole[-len(got) :]
        log = other.logs.get(started.thread_id)
        assert log is None or not log.channels, "the copy goes with its last reader"


async def test_readers_that_come_and_go_one_by_one_lose_nothing(database: Database) -> None:
    async with two(database, chatty) as (one, other):
        started = await one.start()
        visits = 0
        while (await one.commands.latest(started.thread_id)).status is Status.RUNNING:
            position = await other.follower.locate(started.thread_id, EventId(1, 2))
            got: list[tuple[str, str]] = []
            frames = other.follower.frames(started.thread_id, position)
            async for data in frames:
                got += parse(data)
                if len(got) > 20:
                    break
            await frames.aclose()
            assert [i for i, _ in got] == [f"1-{n}" for n in range(3, 3 + len(got))], got[:3]
            visits += 1
        assert visits > 5


async def test_a_reader_elsewhere_sees_a_run_that_starts_later(database: Database) -> None:
    async with two(database, chatty) as (one, other):
        started = await other.start()
        assert started.status is Status.PENDING
        events = await other.read(started.thread_id)
        assert [name for _, name in events][:2] == ["run.queued", "run.started"]
        assert events[-1][1] == "run.succeeded"
        assert "gap" not in [name for _, name in events]
        del one


async def test_a_requirement_from_elsewhere_is_numbered_by_the_owner(database: Database) -> None:
    asked = asyncio.Event()

    async def takes_it(run: Run, emit: Emit) -> Outcome:
        emit.on_request(lambda _: asked.set())
        await asked.wait()
        await database.execute("UPDATE requirements SET status = 'applied'")
        return Outcome("succeeded")

    async with two(database, takes_it) as (one, other):
        started = await one.start()
        await other.commands.modify("ann", started.thread_id, body={"message": "m"})
        names = [name for _, name in await other.read(started.thread_id)]
        assert names == ["run.started", "requirement", "run.succeeded"]


async def test_a_handed_back_run_goes_on_elsewhere_without_a_gap(database: Database) -> None:
    async def once(run: Run, emit: Emit) -> Outcome:
        for n in range(50):
            emit("token", {"section": 0, "text": str(n)})
        if run.epoch > 1:
            return Outcome("succeeded")
        drained = asyncio.Event()
        emit.on_request(lambda _: drained.set())
        await drained.wait()
        return Outcome("handed_back")

    url = redis_server().url
    async with two(database, once) as (one, other):
        started = await one.start()
        reading = asyncio.gather(other.read(started.thread_id))
        await until(lambda: _length(other, started.thread_id) > 50)
        async with stage(database, once, redis=url):
            assert await one.worker.drain(2, asyncio.Event())
            (events,) = await reading
        names = [name for _, name in events]
        assert names == (["run.started"] + ["token"] * 50) * 2 + ["run.succeeded"]
        assert (await other.commands.latest(started.thread_id)).attempt == 1


def _length(s: Stage, thread_id: object) -> int:
    log = s.logs.get(thread_id)  # type: ignore[arg-type]
    return log.channels[-1].last_id.seq if log is not None and log.channels else 0


async def test_what_the_buffer_dropped_is_a_gap_elsewhere_too(database: Database) -> None:
    async with two(database, chatty, cap=4096) as (one, other):
        started = await one.start()
        await one.until_ended(started.thread_id)
        events = await other.read(started.thread_id, EventId(1, 3))
        names = [name for _, name in events]
        assert names[0] == "gap"
        assert names[-1] == "run.succeeded"


async def test_every_key_expires_and_a_deleted_thread_leaves_none(database: Database) -> None:
    async with two(database, chatty) as (one, _):
        client: Redis = Redis.from_url(redis_server().url)
        started = await one.start()
        await one.read(started.thread_id)
        key = f"test:events:{started.thread_id}"
        await until(lambda: _settled(one))
        assert 0 < await client.ttl(key) <= 3600
        await one.commands.delete("ann", started.thread_id)
        while await client.exists(key):
            await asyncio.sleep(0.01)
        await client.aclose()


def _settled(s: Stage) -> bool:
    return s.link is not None and not s.link.mirror.pending


async def test_without_an_owner_the_canceller_ends_the_run(database: Database) -> None:
    async with two(database, forever, lease=1.0) as (one, other):
        started = await one.start()
        entry = one.worker.tasks.get(started.thread_id)
        assert entry is not None
        # As if its worker had died: nobody renews, nobody hears.
        await database.execute("UPDATE runs SET worker_id = 'dead'")
        run = await other.commands.cancel("ann", started.thread_id, by="ann", wait_seconds=5)
        assert run.status is Status.CANCELLED
        assert await one.worker.tasks.ended(entry, 2)
        names = [name for _, name in await other.read(started.thread_id)]
        assert names[-1] == "run.cancelled"


async def test_without_redis_readers_elsewhere_are_told_and_it_heals(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.follow.AWAY", 0.1)
    monkeypatch.setattr("registry.follow.POLL", 0.2)
    gate = asyncio.Event()

    async def gated(run: Run, emit: Emit) -> Outcome:
        for n in range(5):
            emit("token", {"section": 0, "text": str(n)})
        await gate.wait()
        for n in range(5):
            emit("token", {"section": 0, "text": str(n)})
        return Outcome("succeeded")

    redis = RedisServer()
    try:
        async with two(database, gated, redis=redis.url) as (one, other):
            started = await one.start()
            got: list[tuple[str, str]] = []

            async def reading() -> None:
                position = await other.follower.locate(started.thread_id, None)
                async for data in other.follower.frames(started.thread_id, position):
                    got.extend(parse(data))

            async with asyncio.TaskGroup() as group:
                group.create_task(reading())
                await until(lambda: len(got) == 6)
                redis.kill()
                await until(lambda: "gap" in [name for _, name in got])
                redis.restart()
                assert other.link is not None
                link = other.link
                await until(lambda: link.bus.hears and link.replicas.healthy, seconds=20)
                gate.set()
            # Redis came back empty; what memory still had was sent again, none of it twice.
            events = [item for item in got if item[1] != "gap"]
            assert [name for _, name in events] == ["run.started", *["token"] * 10, "run.succeeded"]
            assert [i for i, _ in events] == [f"1-{n}" for n in range(1, 13)]
    finally:
        redis.stop()


def test_a_replica_cuts_what_comes_twice_and_shows_holes() -> None:
    def frames(first: int, last: int) -> bytes:
        return b"".join(b"id: 1-%d\nevent: token\ndata: {}\n\n" % n for n in range(first, last + 1))

    copy = Replica(None, 1, 1 << 20)
    copy.extend(1, 3, frames(1, 3))
    copy.extend(2, 5, frames(2, 5))
    copy.extend(4, 5, frames(4, 5))
    batch = copy.after(0)
    assert batch is not None
    assert [i for i, _ in parse(batch.data)] == [f"1-{n}" for n in range(1, 6)]
    copy.extend(8, 9, frames(8, 9))
    assert copy.first_id == EventId(1, 8)
    assert copy.last_id == EventId(1, 9)
    copy.finish(12, 0.0)
    assert copy.last_id == EventId(1, 12)
    assert copy.after(0) is None
