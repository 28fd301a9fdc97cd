"""Following: any cursor, any number of reconnects, the same events; else an honest gap."""

import asyncio
import itertools
import random
from uuid import UUID, uuid4

import pytest

from registry.channel import Logs
from registry.database import Database
from registry.events import EventId
from registry.run import Emit, Outcome, Run
from tests.registry.stage import Stage, parse, stage
from tests.waiting import until

COUNT = 400


async def chatty(run: Run, emit: Emit) -> Outcome:
    for n in range(COUNT):
        emit("token", {"section": 0, "text": f"{n} "})
        if n % 7 == 0:
            await asyncio.sleep(0)
    return Outcome("succeeded")


async def read_some(
    s: Stage, thread_id: UUID, after: EventId | None, batches: int
) -> list[tuple[str, str]]:
    position = await s.follower.locate(thread_id, after)
    stream = s.follower.frames(thread_id, position)
    out: list[tuple[str, str]] = []
    try:
        async for data in stream:
            out += parse(data)
            batches -= 1
            if batches == 0:
                break
    finally:
        await stream.aclose()
    return out


async def test_fifty_drops_give_the_same_events_as_staying(database: Database) -> None:
    rng = random.Random(11)
    async with stage(database, chatty) as s:
        started = await s.start()
        staying = asyncio.gather(s.read(started.thread_id))
        seen: list[tuple[str, str]] = []
        cursor: EventId | None = None
        for _ in range(50):
            part = await read_some(s, started.thread_id, cursor, 1)
            # A reader may have lost the tail of what was sent to it.
            part = part[: rng.randint(0, len(part))]
            seen += part
            cursor = EventId.parse(seen[-1][0]) if seen else None
            await asyncio.sleep(0)
        seen += await s.read(started.thread_id, cursor)
        (stayed,) = await staying
        assert seen == stayed
        assert len(stayed) == COUNT + 2


async def test_a_cursor_past_the_byte_cap_gets_a_gap_and_the_rest(database: Database) -> None:
    async with stage(database, chatty, cap=4096) as s:
        started = await s.start()
        await s.until_ended(started.thread_id)
        events = await s.read(started.thread_id, EventId(1, 10))
        assert events[0] == ("", "gap")
        assert [name for _, name in events].count("gap") == 1
        assert events[-1][1] == "run.succeeded"
        numbers = [EventId.parse(text) for text, _ in events[1:]]
        assert all(a.seq + 1 == b.seq for a, b in itertools.pairwise(numbers) if a and b)


async def test_after_the_events_are_gone_the_end_still_comes(database: Database) -> None:
    async with stage(database, chatty) as s:
        started = await s.start()
        await s.until_ended(started.thread_id)
        s.logs.drop(started.thread_id)
        for after, expected in (
            (None, ["run.started", "gap", "run.succeeded"]),
            (EventId(1, 100), ["gap", "run.succeeded"]),
            (EventId(0, 0), ["run.started", "gap", "run.succeeded"]),
            (EventId(9, 9), ["gap", "run.succeeded"]),
        ):
            names = [name for _, name in await s.read(started.thread_id, after)]
            assert names == expected, after
        end = EventId(1, COUNT + 2)
        assert (await s.follower.locate(started.thread_id, end)).at_end


async def test_followers_leave_nothing_behind(database: Database) -> None:
    async with stage(database, chatty) as s:
        started = await s.start()
        await asyncio.gather(*(s.read(started.thread_id) for _ in range(20)))
        log = s.logs.get(started.thread_id)
        assert log is not None
        assert log.followers == 0
        log.channels[-1].closed_at = -1e9  # long ago
        s.logs.sweep()
        assert len(s.logs) == 0


async def test_a_channel_keeps_its_cap_and_its_numbers(database: Database) -> None:
    async with stage(database, chatty, cap=4096) as s:
        started = await s.start()
        await s.until_ended(started.thread_id)
        log = s.logs.get(started.thread_id)
        assert log is not None
        channel = log.channels[0]
        await until(lambda: channel.ended)  # its event follows the status
        assert channel.bytes_held <= 4096
        assert channel.last_id == EventId(1, COUNT + 2)


def test_epochs_of_a_log_only_rise() -> None:
    logs = Logs(cap=1024, retention=1)
    thread_id = uuid4()
    logs.open(thread_id, None, 2)
    with pytest.raises(ValueError, match="not above"):
        logs.open(thread_id, None, 2)
