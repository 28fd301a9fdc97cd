"""The bus contract, for each bus there is."""

from collections.abc import Awaitable, Callable

import pytest

from registry.bus import Bus, LocalBus, Message
from registry.redis_bus import RedisBus
from registry.redis_client import make_client
from registry.watchdog import Watchdog
from tests.registry.bus_contract import CONTRACT
from tests.services import redis_server
from tests.waiting import until


@pytest.mark.parametrize("clause", CONTRACT, ids=lambda clause: clause.__name__)
async def test_local_bus(clause: Callable[[Bus], Awaitable[None]]) -> None:
    await clause(LocalBus())


@pytest.mark.parametrize("clause", CONTRACT, ids=lambda clause: clause.__name__)
async def test_redis_bus(clause: Callable[[Bus], Awaitable[None]]) -> None:
    client = make_client(redis_server().url)
    topics = ("topic", "a", "b", "nobody")
    bus = RedisBus(client, topics=topics, prefix="test:", name="one")
    async with Watchdog([bus.loop]).watching():
        await until(lambda: bus.hears)
        await clause(bus)
    await bus.close()
    await client.aclose()


async def test_a_lost_connection_is_made_again_and_says_so() -> None:
    client = make_client(redis_server().url)
    bus = RedisBus(client, topics=("topic",), prefix="test:", name="two")
    gaps: list[None] = []
    heard: list[Message] = []
    bus.on_gap(lambda: gaps.append(None))
    bus.subscribe("topic", heard.append)
    async with Watchdog([bus.loop]).watching():
        await until(lambda: bus.hears)
        assert len(gaps) == 1
        await client.client_kill_filter(_type="pubsub")
        await until(lambda: len(gaps) == 2 and bus.hears)
        await client.publish("topic", b"not json")
        await client.publish("topic", b"[1]")
        await bus.publish("topic", {"n": 1})
        await until(lambda: heard == [{"n": 1}])
    await bus.close()
    await client.aclose()
