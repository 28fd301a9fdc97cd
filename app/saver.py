"""RunSaver: the Postgres saver of one run, over the shared pool, fenced by the run's epoch.

1. A saver serialises its work on one lock, so each run gets its own; making one costs
   microseconds. Each call runs to its end before a cancel goes on (`registry.settle`).
2. Every write of a run ends with the fence, in the write's own transaction: a worker whose
   run was claimed by another gets `LeaseLost` and leaves no row.
3. The fence is the last statement, and goes out together with the end of the transaction. A
   worker that freezes before it holds nothing that a claim wants; after it, it is done.
4. A run waits for a database that restarts. All that the saver writes are upserts of rows
   that only this write makes, so a write may be done twice.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final, LiteralString, TypeVar, cast
from uuid import UUID

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncCursor, AsyncPipeline
from psycopg.rows import DictRow, dict_row

from registry.database import Database, rollback
from registry.deadline import Deadline
from registry.errors import LeaseLost
from registry.patience import PATIENCE, patiently
from registry.pool import Connection
from registry.settle import settle

T = TypeVar("T")

LIMIT: Final = 10.0  # seconds of one try; then the next, on another connection
FENCED: Final = "FE001"  # raised by the function of migration 0004

_DEADLINE: ContextVar[Deadline] = ContextVar("saver_deadline")


class RunSaver(AsyncPostgresSaver):
    def __init__(self, database: Database, fence: tuple[UUID, int] | None = None) -> None:
        """`fence`: thread and epoch of the run. None is for readers, who have no patience."""
        super().__init__(database.pool)
        self._database = database
        self._fence = fence
        self._patience = PATIENCE if fence is not None else 0.0

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._do(lambda: super(RunSaver, self).aget_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the base class's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        async def collect() -> list[CheckpointTuple]:
            found = super(RunSaver, self).alist(config, filter=filter, before=before, limit=limit)
            return [item async for item in found]

        for item in await self._do(collect):
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._do(
            lambda: super(RunSaver, self).aput(config, checkpoint, metadata, new_versions)
        )

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await self._do(
            lambda: super(RunSaver, self).aput_writes(config, writes, task_id, task_path)
        )

    async def adelete_thread(self, thread_id: str) -> None:
        await self._do(lambda: super(RunSaver, self).adelete_thread(thread_id))

    async def _do(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await patiently(lambda: self._try(call), self._patience)

    async def _try(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        deadline = Deadline(LIMIT)

        async def bounded() -> T:
            _DEADLINE.set(deadline)  # of this call's own task
            return await call()

        return await settle(bounded(), deadline.hurry)

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncGenerator[AsyncCursor[DictRow]]:
        """The base class's one place where it takes a connection; `pipeline`: for writes."""
        async with self.lock, self._database.connection(_DEADLINE.get()) as connection:
            try:
                async with self._mode(connection, writes=pipeline) as cursor:
                    yield cursor
            except psycopg.Error as error:
                if error.sqlstate == FENCED:
                    raise LeaseLost from error
                raise

    @asynccontextmanager
    async def _mode(
        self, connection: Connection, *, writes: bool
    ) -> AsyncGenerator[AsyncCursor[DictRow]]:
        if writes and self._database.pooler:
            async with self._transaction(connection) as cursor:
                yield cursor
            return
        async with AsyncExitStack() as stack:
            if writes:
                pipe = await stack.enter_async_context(connection.pipeline())
                stack.callback(self._close_fence, connection, pipe)
            yield await stack.enter_async_context(
                connection.cursor(binary=True, row_factory=dict_row)
            )

    def _close_fence(self, connection: Connection, pipe: AsyncPipeline) -> None:
        """Fence and end of the pipeline's transaction, in one piece."""
        if self._fence is None:
            return
        thread_id, epoch = self._fence

        def send() -> None:
            connection.pgconn.send_query_params(
                b"SELECT fence($1::uuid, $2::bigint)",
                [str(thread_id).encode(), str(epoch).encode()],
            )
            connection.pgconn.pipeline_sync()

        pipe.command_queue.append(send)
        pipe.result_queue.extend([None, None])  # of the fence, of the end

    @asynccontextmanager
    async def _transaction(self, connection: Connection) -> AsyncGenerator[AsyncCursor[DictRow]]:
        """The same behind a pooler, where a pipeline may not be."""
        await connection.execute(self._database.limits.begin(connection.info.server_version))
        end = "COMMIT"
        if self._fence is not None:
            end = f"SELECT fence('{self._fence[0]}', {self._fence[1]}); COMMIT"
        try:
            async with connection.cursor(binary=True, row_factory=dict_row) as cursor:
                yield cursor
            await connection.execute(cast("LiteralString", end))
        except BaseException:
            await rollback(connection)
            raise
