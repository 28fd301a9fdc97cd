"""F03: a cancel that is published while nobody listens still arrives, and is never called done."""

import asyncio
import time

from redis import Redis

from tests.fleet.acts import begun, cancelled
from tests.fleet.fleet import LEASE, Fleet
from tests.reader import wait_for

BY_RENEWAL = LEASE / 3 + 1


async def test_f03_the_listener_is_cut_while_the_cancel_comes(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        for _ in range(3):
            thread_id = await begun(a)
            with Redis.from_url(fleet.redis.url) as redis:
                redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            began = time.monotonic()
            await cancelled(b, thread_id)
            await wait_for(b, thread_id, "cancelled", seconds=BY_RENEWAL + 2)
            assert time.monotonic() - began < BY_RENEWAL + 1
            await fleet.simulator.until(lambda s: s.open == 0, 1)


async def test_f03_redis_is_dead(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        far, near = await begun(a), await begun(a)
        fleet.redis.kill()
        began = time.monotonic()
        assert await cancelled(b, far) == 202, "it is asked for, not done"
        assert time.monotonic() - began < 3
        await cancelled(a, near)
        await wait_for(a, near, "cancelled", seconds=1)
        await wait_for(b, far, "cancelled", seconds=BY_RENEWAL + 2)


async def test_f03_redis_answers_nobody(fleet: Fleet) -> None:
    """Half-open: connections stand, nothing comes through."""
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread_id = await begun(a)
        fleet.redis.freeze()
        began = time.monotonic()
        async with asyncio.timeout(5):
            await cancelled(b, thread_id)
        await wait_for(b, thread_id, "cancelled", seconds=BY_RENEWAL + 4)
        assert time.monotonic() - began < BY_RENEWAL + 4
