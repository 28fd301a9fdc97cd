"""A stage for registry tests: a worker with a scripted body on a real database."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from registry.bus import LocalBus
from registry.channel import Logs
from registry.commands import Accepted, Commands
from registry.database import Database
from registry.events import EventId
from registry.follow import Follower
from registry.options import WorkerOptions
from registry.redis_link import RedisLink
from registry.run import Emit, Outcome, Run
from registry.timeline import Timeline
from registry.watchdog import Watchdog
from registry.worker import Worker
from tests.waiting import until

Act = Callable[[Run, Emit], Awaitable[Outcome]]


def describe(error: BaseException) -> Mapping[str, Any]:
    return {"type": "/problems/internal", "title": type(error).__name__, "status": 500}


async def no_purge(thread_id: UUID) -> None:
    """Nothing but rows to remove in these tests."""


async def never_settled(thread_id: UUID, kind: str, given: Mapping[str, Any]) -> bool:
    """There are no checkpoints here: every orphan still has something to do."""
    return False


@dataclass(frozen=True)
class Reached:
    """`registry.redis_link.LinkSettings` of a test."""

    redis_url: str | None
    event_buffer_bytes: int
    redis_prefix: str = "test:"
    event_retention_seconds: float = 3600


@dataclass
class Stage:
    worker: Worker
    commands: Commands
    follower: Follower
    logs: Logs
    timeline: Timeline
    link: RedisLink | None

    async def start(self, owner: str = "ann", **more: Any) -> Accepted:
        return await self.commands.start(owner, question="q", title="t", input={}, **more)

    async def read(self, thread_id: UUID, after: EventId | None = None) -> list[tuple[str, str]]:
        """(id, name) of all events until the stream ends by itself."""
        position = await self.follower.locate(thread_id, after)
        raw = b"".join([data async for data in self.follower.frames(thread_id, position)])
        return parse(raw)

    async def until_ended(self, thread_id: UUID) -> Run:
        while True:
            run = await self.commands.latest(thread_id)
            if run.ended_at is not None:
                return run
            await asyncio.sleep(0)  # as early as can be: tests aim at the tick of the commit


def parse(raw: bytes) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for frame in raw.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line)
        if fields:
            out.append((fields.get("id", ""), fields["event"]))
    return out


@asynccontextmanager
async def stage(
    database: Database, act: Act, *, cap: int = 1 << 20, redis: str | None = None, **options: Any
) -> AsyncGenerator[Stage]:
    """A worker without its loops: tests call `claim_pending`, `scan` and so on themselves.

    With the URL of a `redis` the loops run, and the worker is one of several.
    """
    logs = Logs(cap=cap, retention=3600)
    chosen = WorkerOptions(**options)
    link = RedisLink.make(Reached(redis, cap), logs, chosen.worker_id) if redis else None
    worker = Worker(
        database,
        logs,
        link.bus if link is not None else LocalBus(),
        act,
        describe,
        options=chosen,
        purge=no_purge,
        settled=never_settled,
        mirrored=link.mirrored if link is not None else None,
    )
    timeline = Timeline(database)
    follower = Follower(logs, worker.store, timeline, link.replicas if link is not None else None)
    made = Stage(worker, Commands(worker), follower, logs, timeline, link)
    async with AsyncExitStack() as stack:
        if link is not None:
            dog = Watchdog([*worker.loops, *link.loops])
            stack.push_async_callback(link.close)
            await stack.enter_async_context(dog.watching())
            await until(lambda: link.bus.hears)
        try:
            yield made
        finally:
            await worker.tasks.end_all("shutdown", 5)
            await worker.close()
