"""Cancel latency: from the call to the end of everything it has to end.

200 runs of the real workflow on a real Postgres, against the model simulator, each cancelled
once: half while the model's answer streams, a quarter inside a checkpoint write, a quarter
inside a ranking. A cancel is over when the status is committed, the event has reached a
reader, the model's socket is closed and the pool has its places back.
"""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from uuid import UUID

from app.library import DocumentLibrary
from app.root import Service, open_service
from app.saver import RunSaver
from app.settings import Settings
from bench import Figure
from registry.run import Status
from tests.app.whole import ASK, QUESTION, indexed
from tests.simulator import Simulator

BOUND_MS: Final = 100
RUNS: Final = {"model": 100, "checkpoint": 50, "ranking": 50}


def measure() -> Iterable[Figure]:
    return asyncio.run(cancels(RUNS))


async def cancels(runs: Mapping[str, int]) -> list[Figure]:
    """Figures of so many cancels of each kind."""
    with tempfile.TemporaryDirectory() as folder, Simulator() as simulator:
        os.chmod(folder, 0o755)  # noqa: PTH101 - under root the server is another user
        settings = Settings(
            _env_file=os.devnull,  # type: ignore[call-arg]
            data_dir=Path(folder),
            openai_base_url=simulator.url,
            model="sim-50x400",
        )
        async with open_service(settings) as service:
            await indexed(service)
            figures: list[Figure] = []
            everything: list[float] = []
            for kind, count in runs.items():
                times = [await _one(service, simulator, kind) for _ in range(count)]
                everything += times
                figures += [_figure(f"{kind}, p99", times, None)]
            left = await _pool_places_left(service)
            figures.append(_figure("all, p50", everything, None, share=0.5))
            figures.append(_figure("all, p99", everything, BOUND_MS))
            figures.append(Figure("pool places not given back", left, "", 0, "lower"))
            figures.append(Figure("runs left", len(service.worker.tasks), "", 0, "lower"))
            figures.append(Figure("model calls left", simulator.stats().open, "", 0, "lower"))
            return figures


async def _pool_places_left(service: Service) -> int:
    """Places that no call gives back. The loops take one for a moment each second, so a
    place counts as lost only if all are never seen together within two seconds."""
    least = service.database.pool.max_size
    for _ in range(200):
        stats = service.database.pool.get_stats()
        least = min(least, stats["pool_size"] - stats["pool_available"])
        if least == 0:
            break
        await asyncio.sleep(0.01)
    return least


def _figure(name: str, times: list[float], bound: float | None, share: float = 0.99) -> Figure:
    ordered = sorted(times)
    value = ordered[min(len(ordered) - 1, int(len(ordered) * share))]
    return Figure(name, round(value, 1), "ms", bound, "lower")


async def _one(service: Service, simulator: Simulator, kind: str) -> float:
    """Milliseconds from the call of one cancel to its end."""
    rng = random.Random()
    await asyncio.to_thread(simulator.reset)  # its answers about itself stay small
    async with _moment(kind) as arrived:
        made = await service.commands.start(
            "bench", question=QUESTION, title=QUESTION, input={**ASK}
        )
        position = await service.follower.locate(made.thread_id, None)
        ended = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(_follow(service, made.thread_id, position, ended, arrived, kind))
            async with asyncio.timeout(30):
                await arrived.wait()
            if kind == "model":
                await asyncio.sleep(rng.random() * 0.2)
            began = time.perf_counter()
            run = await service.commands.cancel(
                "bench", made.thread_id, by="bench", wait_seconds=10
            )
            await ended.wait()
            await asyncio.to_thread(_closed, simulator)
            while service.database.pool.get_stats()["requests_waiting"]:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            took = (time.perf_counter() - began) * 1000
    if run.status is not Status.CANCELLED:
        raise AssertionError(f"the cancelled run is {run.status}: {run.problem}")
    return took


def _closed(simulator: Simulator) -> None:
    while simulator.stats().open:
        time.sleep(0.001)


async def _follow(
    service: Service,
    thread_id: UUID,
    position: Any,
    ended: asyncio.Event,
    arrived: asyncio.Event,
    kind: str,
) -> None:
    async for data in service.follower.frames(thread_id, position):
        if kind == "model" and b"event: token" in data:
            arrived.set()
        if b"event: run.cancelled" in data:
            ended.set()
    ended.set()


@asynccontextmanager
async def _moment(kind: str) -> AsyncGenerator[asyncio.Event]:
    """An event that is set when a run is in the middle of what `kind` names."""
    arrived, rng = asyncio.Event(), random.Random()
    skip = rng.randrange(6)  # not always the first write of a run

    def marking(call: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def marked(*args: Any, **more: Any) -> Any:
            nonlocal skip
            skip -= 1
            if skip < 0:
                arrived.set()
            return await call(*args, **more)

        return marked

    if kind == "checkpoint":
        with patch.object(RunSaver, "aput", marking(RunSaver.aput)):
            yield arrived
    elif kind == "ranking":
        skip = 0
        with patch.object(DocumentLibrary, "search", marking(DocumentLibrary.search)):
            yield arrived
    else:
        yield arrived
