"""RedisBus: hints between workers over Redis pub/sub.

Invariants:
1. `publish` never raises and is bounded: a hint that cannot be sent is lost, as any may be.
2. The listener hears itself: each pass sends an echo through another connection and waits
   for it on the subscribed one, so a half-open connection is found, not believed.
3. After every (re)connection all `on_gap` callbacks run: what was said meanwhile is gone.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import structlog
from redis.asyncio.client import PubSub

from registry.bus import Message, Receiver
from registry.errors import BusDown
from registry.events import encode_json
from registry.loops import Loop
from registry.redis_client import FAILURES, Client, reason_of

PASS: Final = 5.0  # seconds between two echoes
ECHO: Final = 2.0  # seconds in which an echo must come back

log = structlog.get_logger(__name__)


class RedisBus:
    """`topics` are all that can ever be subscribed to; `name` is this worker's own."""

    def __init__(self, client: Client, *, topics: Sequence[str], prefix: str, name: str) -> None:
        self._client = client
        self._topics = list(topics)
        self._echo = f"{prefix}echo:{name}"
        self._receivers: defaultdict[str, list[Receiver]] = defaultdict(list)
        self._gap_callbacks: list[Callable[[], None]] = []
        self._pubsub: PubSub | None = None
        self._count = 0
        self.hears = False  # the last echo came back
        self.loop = Loop("listener", 0, self.listen)

    # -- the bus

    async def publish(self, topic: str, message: Message) -> None:
        try:
            await self._client.publish(topic, encode_json(dict(message)))
        except FAILURES as error:
            log.warning("hint_lost", topic=topic, reason=reason_of(error))

    def subscribe(self, topic: str, receiver: Receiver) -> Callable[[], None]:
        if topic not in self._topics:
            raise ValueError(f"{topic!r} is not a topic of this bus")
        self._receivers[topic].append(receiver)
        return lambda: _discard(self._receivers[topic], receiver)

    def on_gap(self, callback: Callable[[], None]) -> Callable[[], None]:
        self._gap_callbacks.append(callback)
        return lambda: _discard(self._gap_callbacks, callback)

    # -- the listener

    async def listen(self) -> None:
        """One pass: an echo sent and heard, and whatever came meanwhile delivered."""
        try:
            pubsub = self._pubsub or await self._connect()
            await self._hear_echo(pubsub)
            self.hears = True
            await self._deliver(pubsub, PASS, None)
        except FAILURES as error:
            await self.close()
            raise BusDown(reason_of(error)) from error
        except BusDown:
            await self.close()
            raise

    async def _connect(self) -> PubSub:
        pubsub = self._pubsub = self._client.pubsub()
        await pubsub.subscribe(self._echo, *self._topics)
        awaited = len(self._topics) + 1
        loop = asyncio.get_running_loop()
        deadline = loop.time() + ECHO
        while awaited:
            message = await pubsub.get_message(timeout=max(deadline - loop.time(), 0.001))
            if message is not None and message["type"] == "subscribe":
                awaited -= 1
            elif loop.time() >= deadline:
                raise BusDown("the subscription was not confirmed")
        for callback in list(self._gap_callbacks):
            callback()
        return pubsub

    async def _hear_echo(self, pubsub: PubSub) -> None:
        self._count += 1
        token = str(self._count).encode()
        await self._client.publish(self._echo, token)
        if not await self._deliver(pubsub, ECHO, token):
            raise BusDown("the subscribed connection hears nothing")

    async def _deliver(self, pubsub: PubSub, seconds: float, token: bytes | None) -> bool:
        """Hands on what comes for so long, or until the token is heard; whether it was."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while (left := deadline - loop.time()) > 0:
            message: Any = await pubsub.get_message(ignore_subscribe_messages=True, timeout=left)
            if message is None:
                continue
            channel, data = bytes(message["channel"]).decode(), bytes(message["data"])
            if channel == self._echo:
                if data == token:
                    return True
                continue
            self._hand_on(channel, data)
        return False

    def _hand_on(self, topic: str, data: bytes) -> None:
        try:
            found: Any = msgspec.json.decode(data)
        except msgspec.DecodeError:
            return  # anybody may publish anything: a hint that cannot be read is none
        if isinstance(found, dict):
            for receiver in list(self._receivers[topic]):
                receiver(found)

    async def close(self) -> None:
        """Ends the subscribed connection; the next pass makes a new one."""
        self.hears = False
        pubsub, self._pubsub = self._pubsub, None
        if pubsub is not None:
            try:
                await pubsub.aclose()
            except FAILURES as error:
                log.debug("listener_close_failed", reason=reason_of(error))


def _discard(items: list[Any], item: Any) -> None:
    if item in items:
        items.remove(item)
