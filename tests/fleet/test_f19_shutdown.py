"""F19: open streams neither block a shutdown nor are cut off by it."""

import asyncio
import signal
import time

import httpx
import pytest

from tests.api.reading import start, stream
from tests.fleet.fleet import Fleet
from tests.reader import wait_for
from tests.waiting import until

QUESTION = "How does a cancel reach a run on another worker?"
RUNS, READERS = 4, 5
EXIT_SECONDS = 5


async def _read(client: httpx.AsyncClient, thread: str, into: list[bytes]) -> None:
    """To the end of the stream, which must be a clean one: httpx raises for a cut."""
    async with stream(client, thread) as response:
        async for data in response.aiter_raw():
            into.append(data)  # noqa: PERF401 - looked at while it grows


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT], [signal.SIGTERM] * 2])
@pytest.mark.usefixtures("_template")
async def test_f19_every_stream_ends_cleanly_with_a_hint(signals: list[signal.Signals]) -> None:
    with Fleet(2, model="sim-50x400-stall") as fleet:
        first, second = fleet.members
        async with first.client() as here, second.client() as there:
            threads = [await start(here, QUESTION, review_plan=False) for _ in range(RUNS)]
            got: list[list[bytes]] = [[] for _ in range(RUNS * READERS)]
            async with asyncio.TaskGroup() as group:
                for place, into in enumerate(got):
                    group.create_task(_read(here, threads[place % RUNS], into))
                await until(lambda: all(b"event: token" in b"".join(into) for into in got))
                began = time.monotonic()
                for sig in signals:
                    first.running.process.send_signal(sig)
                    await asyncio.sleep(0.1)
                process = first.running.process
                await until(lambda: process.poll() is not None, seconds=3 * EXIT_SECONDS)
                took = time.monotonic() - began
            assert process.returncode == 0
            assert took < EXIT_SECONDS, took
            for into in got:
                assert b"".join(into).endswith(b"retry: 1000\n\n")
            log = first.fresh_log()
            assert "drain_finished" in log
            assert "Traceback" not in log
            # What it had goes on elsewhere; nothing was lost, nobody waits for a lease.
            for thread in threads:
                await wait_for(there, thread, "running", seconds=5)
                await there.post(f"/api/threads/{thread}/cancel", json={"wait": True})
                assert (await wait_for(there, thread, "cancelled"))["run"]["attempt"] == 1
