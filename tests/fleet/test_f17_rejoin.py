"""F17: whoever comes back to a finished run gets its end at once, whatever cursor it sends."""

import asyncio
import time

import httpx
import pytest
from redis import Redis

from tests.api.reading import ENDING, events_in, start, stream
from tests.fleet.acts import QUESTION
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import quiet
from tests.fleet.roamer import Roamer, all_end
from tests.waiting import until

ODD = ("-1", "abc", "", "9" * 10_000, "5%0Aevent: run.failed", "99999-1", "0-0", "1-2")


async def rejoin(client: httpx.AsyncClient, thread_id: str, seen: str | None) -> list[str]:
    """Names of the events until the stream ended, which was soon; empty for a 204."""
    began = time.monotonic()
    async with asyncio.timeout(5), stream(client, thread_id, seen=seen) as response:
        assert response.status_code in {200, 204}, response.status_code
        names = [event.name async for event in events_in(response)]
    assert time.monotonic() - began < 2
    return names


def ended_once(names: list[str]) -> None:
    assert [name for name in names if name in ENDING] == ["run.succeeded"], names
    assert names[-1] == "run.succeeded"


async def test_f17_the_end_comes_at_once(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread_id = await start(a, QUESTION, review_plan=False)
        reader = Roamer(fleet, thread_id)
        await all_end([reader], seconds=60)
        last = reader.reader.ids[-1]
        for client in (a, b):
            assert await rejoin(client, thread_id, last) == []
            for seen in (None, *ODD):
                ended_once(await rejoin(client, thread_id, seen))
        with Redis.from_url(fleet.redis.url) as redis:
            redis.flushall()
        fleet[0].kill()
        fleet[0].restart()
    async with fleet[0].client() as a, fleet[1].client() as b:
        for client in (a, b):
            assert await rejoin(client, thread_id, last) == []
            for seen in (None, reader.reader.ids[10], *ODD):
                ended_once(await rejoin(client, thread_id, seen))


async def test_f17_a_malformed_after_is_refused(fleet: Fleet) -> None:
    async with fleet[0].client() as a:
        thread_id = await start(a, QUESTION)
        async with stream(a, thread_id, after="abc") as response:
            assert response.status_code == 422
        await a.post(f"/api/threads/{thread_id}/cancel", json={"wait": True})
        with pytest.raises(httpx.HTTPStatusError):
            (await a.get(f"/api/threads/{thread_id}x/events")).raise_for_status()


@pytest.mark.usefixtures("_template")
async def test_f17_the_end_comes_after_the_tokens_are_gone() -> None:
    """Past the retention: the owner has forgotten the run's channel, Redis the key of it."""
    with Fleet(2, {"EVENT_RETENTION_SECONDS": "0"}) as fleet:
        async with fleet[0].client() as a, fleet[1].client() as b:
            thread_id = await start(a, QUESTION, review_plan=False)
            reader = Roamer(fleet, thread_id)
            await all_end([reader], seconds=60)
            await quiet(fleet)
            with Redis.from_url(fleet.redis.url) as redis:
                for key in redis.keys(f"{fleet.prefix}*"):
                    assert redis.ttl(key) > 0, key
                    redis.pexpire(key, 1)
                await until(lambda: not redis.keys(f"{fleet.prefix}*"))
            for client in (a, b):
                assert await rejoin(client, thread_id, reader.reader.ids[-1]) == []
                for seen in (None, reader.reader.ids[10], *ODD):
                    ended_once(await rejoin(client, thread_id, seen))
