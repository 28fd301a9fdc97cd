"""The body on the real workflow: cancelled or stopped at any moment, resumed to the end."""

import asyncio
import os
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest

from app.root import Service, open_service
from app.saver import RunSaver
from app.settings import Settings
from registry.run import Run, Status
from tests.app.whole import ASK, QUESTION, indexed


@asynccontextmanager
async def service(database_url: str, folder: Path) -> AsyncGenerator[Service]:
    """The whole service without its HTTP side, with the project's documents indexed."""
    settings = Settings(
        _env_file=os.devnull,  # type: ignore[call-arg]
        database_url=database_url,
        data_dir=folder,
    )
    async with open_service(settings) as made:
        await indexed(made)
        yield made


async def ended(made: Service, thread_id: UUID) -> Run:
    async with asyncio.timeout(30):
        while (run := await made.commands.latest(thread_id)).ended_at is None:
            await asyncio.sleep(0.01)
    return run


async def start(made: Service) -> UUID:
    accepted = await made.commands.start("ann", question=QUESTION, title=QUESTION, input=ASK)
    return accepted.thread_id


async def report_of(made: Service, thread_id: UUID) -> dict[str, Any]:
    state = await made.states.read(await made.commands.latest(thread_id))
    assert len(state.values["versions"]) == 1
    return {s["index"]: s["markdown"] for s in state.values["sections"]}


@pytest.mark.parametrize("step", [0, 1, 2, 4, 6, 8, 10, 12])
async def test_a_cancel_between_a_nodes_writes_and_its_checkpoint_loses_nothing(
    database_url: str, tmp_path: Path, step: int
) -> None:
    """The writes are stored, the step is not: what comes next must not look finished."""
    arrived, release, count = asyncio.Event(), asyncio.Event(), 0
    real = RunSaver.aput

    async def held(self: RunSaver, *args: Any) -> Any:
        nonlocal count
        count += 1
        if count == step + 2 and not release.is_set():
            arrived.set()
            await release.wait()
        return await real(self, *args)

    async with service(database_url, tmp_path) as made:
        with patch.object(RunSaver, "aput", held):
            thread_id = await start(made)
            async with asyncio.timeout(30):
                await arrived.wait()
            await made.commands.cancel("ann", thread_id, by="ann", wait_seconds=5)
            release.set()
        assert (await ended(made, thread_id)).status is Status.CANCELLED
        await made.commands.resume("ann", thread_id)
        run = await ended(made, thread_id)
        assert (run.status, run.problem) == (Status.SUCCEEDED, None)
        cut = await report_of(made, thread_id)
        whole = await start(made)
        assert (await ended(made, whole)).status is Status.SUCCEEDED
        assert cut == await report_of(made, whole)


async def test_stops_at_random_moments_and_resumes_give_the_same_report(
    database_url: str, tmp_path: Path
) -> None:
    rng = random.Random(29)
    async with service(database_url, tmp_path) as made:
        whole = await start(made)
        assert (await ended(made, whole)).status is Status.SUCCEEDED
        expected = await report_of(made, whole)
        stops = 0
        for _ in range(6):
            thread_id = await start(made)
            run = await made.commands.latest(thread_id)
            while run.status is not Status.SUCCEEDED:
                await asyncio.sleep(rng.random() * 0.15)
                run = await made.commands.cancel("ann", thread_id, by="ann", wait_seconds=5)
                if run.status is Status.CANCELLED:
                    stops += 1
                    await made.commands.resume("ann", thread_id)
                    run = await made.commands.latest(thread_id)
            assert await report_of(made, thread_id) == expected
        assert stops >= 6, stops
        assert len(made.worker.tasks) == 0
