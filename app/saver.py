"""RunSaver: the Postgres saver of one run, over the shared pool.

A saver serialises its work on one lock, so each run gets its own; making one costs
microseconds. Each call runs to its end before a cancel goes on (`registry.settle`).
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from registry.database import Database
from registry.settle import settle


class RunSaver(AsyncPostgresSaver):
    def __init__(self, database: Database) -> None:
        super().__init__(database.pool)
        if database.pooler:
            self.supports_pipeline = False  # a pipeline needs one backend throughout

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await settle(super().aget_tuple(config))

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

        for item in await settle(collect()):
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await settle(super().aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await settle(super().aput_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await settle(super().adelete_thread(thread_id))
