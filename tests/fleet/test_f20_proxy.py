"""F20: a proxy that cuts what is silent, and a model that is silent for longer."""

import asyncio
import itertools
import time

import httpx
import pytest

from tests.api.reading import follow, names, start, stream
from tests.api.running import Running
from tests.nginx import Nginx
from tests.reader import wait_for
from tests.simulator import Simulator
from tests.waiting import until

HEARTBEAT = 0.7
CUT = 2.0  # the proxy's patience; the model is silent for several times as long
SILENCE = 7.0
QUESTION = "How does a cancel reach a run on another worker?"


@pytest.mark.usefixtures("_template")
async def test_f20_a_stream_lives_through_silence_behind_a_proxy(database_url: str) -> None:
    with Simulator() as simulator:
        settings = {
            "HEARTBEAT_SECONDS": str(HEARTBEAT),
            "OPENAI_BASE_URL": simulator.url,
            "MODEL": "sim-50x400-stall",
        }
        with (
            Running(database_url, settings) as worker,
            Nginx(worker.url, read_timeout=CUT) as proxy,
        ):
            await asyncio.to_thread(worker.indexed)
            async with httpx.AsyncClient(base_url=proxy.url, timeout=30) as client:
                waits = await start(client, QUESTION)
                assert names(await follow(client, waits))[-1] == "run.waiting"

                thread = await start(client, QUESTION, review_plan=False)
                await simulator.until(lambda stats: stats.open > 0, 20)
                arrivals: list[float] = []
                last = b""

                async def read() -> None:
                    nonlocal last
                    async with stream(client, thread) as response:
                        assert response.status_code == 200
                        async for data in response.aiter_raw():
                            arrivals.append(time.monotonic())
                            last = data

                async with asyncio.TaskGroup() as group:
                    asked = time.monotonic()
                    group.create_task(read())
                    await until(lambda: bool(arrivals) and arrivals[-1] - asked > SILENCE)
                    await client.post(f"/api/threads/{thread}/cancel", json={})
                assert arrivals[0] - asked < 0.5
                gaps = [b - a for a, b in itertools.pairwise(arrivals)]
                assert max(gaps) < HEARTBEAT + 1
                assert b"event: run.cancelled" in last
                await wait_for(client, thread, "cancelled")
