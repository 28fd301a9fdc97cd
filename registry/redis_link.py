"""RedisLink: all that a worker does with Redis, behind one client."""

from dataclasses import dataclass
from typing import Final, Protocol

from registry.bus import CANCEL, MODIFY, PENDING
from registry.channel import Logs
from registry.loops import Loop
from registry.mirror import Mirror
from registry.redis_bus import RedisBus
from registry.redis_client import FAILURES, Client, make_client
from registry.replicas import Replicas

SETTLE: Final = 0.5  # seconds that handing a run back waits for its events to be mirrored


class LinkSettings(Protocol):
    """The settings it reads; bytes and seconds."""

    @property
    def redis_url(self) -> str | None: ...
    @property
    def redis_prefix(self) -> str: ...
    @property
    def event_buffer_bytes(self) -> int: ...
    @property
    def event_retention_seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class RedisLink:
    client: Client
    bus: RedisBus
    mirror: Mirror
    replicas: Replicas

    @classmethod
    def make(cls, settings: LinkSettings, logs: Logs, worker_id: str) -> "RedisLink":
        """Connects at first use: a Redis that is away does not keep a worker from starting."""
        client = make_client(settings.redis_url or "")
        prefix, cap = settings.redis_prefix, settings.event_buffer_bytes
        bus = RedisBus(client, topics=(CANCEL, MODIFY, PENDING), prefix=prefix, name=worker_id)
        mirror = Mirror(
            client, logs, prefix=prefix, cap=cap, retention=settings.event_retention_seconds
        )
        bus.on_gap(mirror.doubt)  # a Redis that was away may have come back empty
        return cls(client, bus, mirror, Replicas(client, prefix=prefix, cap=cap))

    @property
    def loops(self) -> list[Loop]:
        return [self.bus.loop, self.mirror.loop, self.replicas.loop]

    async def mirrored(self) -> None:
        """Returns once what was written so far is in Redis, or soon: it may be away."""
        await self.mirror.settle(SETTLE)

    async def close(self) -> None:
        await self.mirrored()
        await self.bus.close()
        try:
            await self.client.aclose()
        except FAILURES:
            return  # nobody to say goodbye to
