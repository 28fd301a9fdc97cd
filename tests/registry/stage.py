"""A stage for registry tests: a worker with a scripted body on a real database."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from registry.bus import LocalBus
from registry.channel import Logs
from registry.commands import Accepted, Commands
from registry.database import Database
from registry.events import EventId
from registry.follow import Follower
from registry.run import Emit, Outcome, Run
from registry.timeline import Timeline
from registry.worker import Worker, WorkerOptions

Act = Callable[[Run, Emit], Awaitable[Outcome]]


def describe(error: BaseException) -> Mapping[str, Any]:
    return {"type": "/problems/internal", "title": type(error).__name__, "status": 500}


async def no_purge(thread_id: UUID) -> None:
    """Nothing but rows to remove in these tests."""


async def never_settled(thread_id: UUID, kind: str, given: Mapping[str, Any]) -> bool:
    """There are no checkpoints here: every orphan still has something to do."""
    return False


@dataclass
class Stage:
    worker: Worker
    commands: Commands
    follower: Follower
    logs: Logs
    timeline: Timeline

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
    database: Database, act: Act, *, cap: int = 1 << 20, **options: Any
) -> AsyncGenerator[Stage]:
    """A worker without its loops: tests call `claim_pending`, `scan` and so on themselves."""
    logs = Logs(cap=cap, retention=3600)
    worker = Worker(
        database,
        logs,
        LocalBus(),
        act,
        describe,
        options=WorkerOptions(**options),
        purge=no_purge,
        settled=never_settled,
    )
    timeline = Timeline(database)
    made = Stage(worker, Commands(worker), Follower(logs, worker.store, timeline), logs, timeline)
    try:
        yield made
    finally:
        await worker.tasks.end_all("shutdown", 5)
        await worker.close()
