"""F27: a listener that lost its connection comes back by itself, says so meanwhile, and heeds
what was said in between."""

import asyncio
import os
from pathlib import Path

from redis import Redis

from tests.fleet.acts import begun, cancelled, until_ready
from tests.fleet.fleet import Fleet, Member
from tests.fleet.roamer import Roamer, all_end
from tests.reader import wait_for

WATCHED = 6.0  # seconds for which the idle workers' processor time is counted; a tenth of the case
TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds(member: Member) -> float:
    fields = Path(f"/proc/{member.running.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


async def until_listening(redis: Redis) -> None:
    """Both workers subscribe again."""
    async with asyncio.timeout(10):
        while dict(redis.pubsub_numsub("task:cancel")).get(b"task:cancel", 0) < 2:
            await asyncio.sleep(0.02)


async def test_f27_redis_restarts_and_cancels_arrive(fleet: Fleet) -> None:
    for member in fleet.members:
        await until_ready(member, yes=True)
    fleet.redis.kill()
    for member in fleet.members:
        said = await until_ready(member, yes=False)
        assert "listener" in said or "Redis" in said, said
    before = [processor_seconds(member) for member in fleet.members]
    await asyncio.sleep(WATCHED)  # what is looked at is that nothing happens
    used = [processor_seconds(m) - b for m, b in zip(fleet.members, before, strict=True)]
    assert max(used) < 0.05 * WATCHED, used
    async with fleet[0].client() as a, fleet[1].client() as b:
        meanwhile = await begun(a)
        await cancelled(b, meanwhile)
        fleet.redis.restart()
        await wait_for(b, meanwhile, "cancelled", seconds=5)
        for member in fleet.members:
            await until_ready(member, yes=True)
        later = await begun(a)
        await cancelled(b, later)
        await wait_for(b, later, "cancelled", seconds=2)


async def test_f27_the_listener_is_killed_again_and_again(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        with Redis.from_url(fleet.redis.url) as redis:
            for _ in range(2):
                redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
                await until_listening(redis)
        for member in fleet.members:
            await until_ready(member, yes=True)
        thread_id = await begun(a)
        await cancelled(b, thread_id)
        await wait_for(b, thread_id, "cancelled", seconds=2)


async def test_f27_a_half_open_connection_is_found_and_left(fleet: Fleet) -> None:
    """The owner's connections swallow all: its readers notice nothing, the others get what
    they missed, or are told, and the listener is there again once the way is free."""
    proxy = fleet[0].redis
    assert proxy is not None
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread_id = await begun(a)
        near, far = Roamer(fleet, thread_id), Roamer(fleet, thread_id, place=1)
        proxy.drop()
        async with asyncio.TaskGroup() as group:
            group.create_task(all_end([near], seconds=60))
            await until_ready(fleet[0], yes=False)
        assert "gap" not in near.reader.names
        await near.has_all(a)
        proxy.heal()
        await until_ready(fleet[0], yes=True)
        await all_end([far], seconds=30)
        await far.has_all(b)
        thread_id = await begun(a)
        await cancelled(b, thread_id)
        await wait_for(b, thread_id, "cancelled", seconds=2)
