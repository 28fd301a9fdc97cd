"""The composition root: builds everything from the settings, and takes it down in order.

Up: Postgres, schema, pool, the sole worker's lock or the link to Redis, orphans, loops. Down,
the reverse: runs are drained first, then Redis goes, pools close last, so no run meets a
closed pool.
"""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import structlog

from app.api.problems import describe
from app.body import EmitSink, ResearchBody
from app.embedded import EmbeddedPostgres
from app.library import DocumentLibrary, Indexer
from app.providers import make_reasoner, make_web
from app.saver import RunSaver
from app.schema import prepare_schema
from app.settings import Settings
from app.states import ThreadStates
from graph import Context, compile_workflow
from registry.bus import LocalBus
from registry.channel import Logs
from registry.commands import Commands
from registry.database import Database
from registry.errors import StartRefused, StoreDown
from registry.follow import Follower
from registry.ids import uuid7
from registry.loops import Loop
from registry.options import SERVE, WorkerOptions
from registry.pool import Limits
from registry.redis_link import RedisLink
from registry.run import Run
from registry.sole import SoleWorker
from registry.timeline import Timeline
from registry.watchdog import Watchdog
from registry.worker import Worker

LOOK_SECONDS = 4.0  # of the ten until ready; a larger folder is looked through afterwards
ASK = "ask-"  # worker ids of terminal runs: their leases count, no lock of theirs dies

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Service:
    """All that the API and the terminal work with."""

    settings: Settings
    database: Database
    worker: Worker
    commands: Commands
    follower: Follower
    states: ThreadStates
    library: DocumentLibrary
    indexer: Indexer
    watchdog: Watchdog
    reasoner: str
    link: RedisLink | None

    async def ready(self) -> str | None:
        """None when it can take work, else the reason in one line."""
        if self.worker.draining:
            return "draining"
        try:
            async with asyncio.timeout(3):
                await self.database.fetch("SELECT 1")
        except (StoreDown, TimeoutError):
            return "the database cannot be reached"
        if self.link is not None and not self.link.bus.hears:
            return "Redis (REDIS_URL) cannot be reached: hints and events of other workers wait"
        return None

    async def drain(self, hurry: asyncio.Event) -> bool:
        """Ends or hands back the runs, at once when `hurry` is set; True when none is left."""
        return await self.worker.drain(self.settings.drain_seconds * 0.6, hurry)


@asynccontextmanager
async def open_service(settings: Settings, *, serve: bool = True) -> AsyncGenerator[Service]:
    """Everything up, and down again at the end. Raises `StartRefused` with one line.

    `serve=False` is for a terminal run: no lock, no claims, no orphans of others.
    """
    async with AsyncExitStack() as stack:
        url = await _database_url(settings, stack)
        try:
            await prepare_schema(url)
            # A transaction that stands still must not keep a lease's successor waiting.
            limits = Limits(idle=min(5, settings.lease_seconds / 4))
            database = Database(
                url, size=settings.pool_size, pooler=settings.pg_pooler, limits=limits
            )
            await database.open()
        except (psycopg.OperationalError, StoreDown) as error:
            reason = " ".join(str(error).split())[:200]
            raise StartRefused(f"DATABASE_URL: the database cannot be used: {reason}") from None
        stack.push_async_callback(database.close)
        sole = None if settings.redis_url or not serve else SoleWorker(database.url)
        if sole is not None:
            stack.push_async_callback(sole.release)
            await sole.take()
        service = await _compose(settings, database, stack, sole=sole, serve=serve)
        if serve:
            # The lock says that no other serving worker lives; with Redis only leases tell.
            await service.worker.scan(dead_prefix=SERVE if sole is not None else None)
            await _look(service.indexer)
        await stack.enter_async_context(service.watchdog.watching())
        # A full collection over all that was imported stops the loop for some 150 ms.
        gc.collect()
        gc.freeze()
        yield service


async def _look(indexer: Indexer) -> None:
    """Before the first question comes, so that its report can say what was not read yet."""
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            await indexer.rescan()
    except (TimeoutError, StoreDown) as error:
        log.warning("first_look_unfinished", reason=str(error) or f"{LOOK_SECONDS} s were over")


async def _database_url(settings: Settings, stack: AsyncExitStack) -> str:
    if settings.database_url is not None:
        return settings.database_url
    embedded = await asyncio.to_thread(EmbeddedPostgres.start, settings.data_dir)
    # Stopping waits for the server's checkpoint: off the loop.
    stack.push_async_callback(asyncio.to_thread, embedded.stop)
    return embedded.url


async def _compose(
    settings: Settings,
    database: Database,
    stack: AsyncExitStack,
    *,
    sole: SoleWorker | None,
    serve: bool,
) -> Service:
    workflow = compile_workflow()
    logs = Logs(cap=settings.event_buffer_bytes, retention=settings.event_retention_seconds)
    worker_id = f"{SERVE if serve else ASK}{uuid7()}"
    link = RedisLink.make(settings, logs, worker_id) if settings.redis_url else None
    if link is not None:
        stack.push_async_callback(link.close)
    library = DocumentLibrary(database)
    indexer = Indexer(database.url, settings.documents_dir, library)
    reasoner = await stack.enter_async_context(make_reasoner(settings))
    web = make_web(settings)

    def context(run: Run, sink: EmitSink) -> Context:
        return Context(
            reasoner=reasoner(sink),
            library=library,
            web=web,
            sink=sink,
            run_id=str(run.run_id),
            clock=lambda: datetime.now(UTC),
            price_input=settings.price_input,
            price_output=settings.price_output,
        )

    async def purge(thread_id: UUID) -> None:
        await RunSaver(database).adelete_thread(str(thread_id))

    body = ResearchBody(workflow, database, context)
    worker = Worker(
        database,
        logs,
        link.bus if link is not None else LocalBus(),
        body,
        describe,
        options=WorkerOptions(
            slots=settings.max_runs,
            lease=settings.lease_seconds,
            scan=settings.orphan_scan_seconds,
            max_attempts=settings.max_attempts,
            recover=settings.recover,
            worker_id=worker_id,
        ),
        purge=purge,
        settled=body.settled,
        mirrored=link.mirrored if link is not None else None,
    )
    stack.push_async_callback(worker.close)
    loops = [*worker.loops, indexer.loop] if serve else [worker.renewals, worker.expiry]
    if sole is not None:
        loops.append(Loop("lock", 5, sole.keep))
    if link is not None:
        loops += link.loops
    replicas = link.replicas if link is not None else None
    return Service(
        settings=settings,
        database=database,
        worker=worker,
        commands=Commands(worker),
        follower=Follower(logs, worker.store, Timeline(database), replicas),
        states=ThreadStates(workflow, worker, replicas),
        library=library,
        indexer=indexer,
        watchdog=Watchdog(loops),
        reasoner=settings.model or "extractive",
        link=link,
    )
