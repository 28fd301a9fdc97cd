"""A cancelled call lets go of its socket before the cancel goes on."""

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.providers.conftest import Call
from tests.simulator import Simulator

Make = Callable[..., Call]
COUNT = 20


async def _begun(call: Call, group: asyncio.TaskGroup) -> "asyncio.Task[str | None]":
    task = group.create_task(call.run())
    async with asyncio.timeout(5):
        while not call.pieces:
            await asyncio.sleep(0.001)
    return task


async def test_cancelling_a_stream_closes_its_socket_within_100_ms(
    call: Make, simulator: Simulator
) -> None:
    simulator.reset()
    made = [call("sim-50x4000") for _ in range(COUNT)]
    latencies: list[float] = []
    async with asyncio.TaskGroup() as group:
        for item in made:
            task = await _begun(item, group)
            began = time.time()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            stats = await simulator.until(lambda s: s.aborted == len(latencies) + 1, seconds=1)
            latencies.append(stats.aborts[-1] - began)
    assert simulator.stats().open == 0
    # The median: single ones measure how busy the machine is, not what a cancel takes.
    assert sorted(latencies)[COUNT // 2] < 0.1, latencies
    for item in made:  # what was streamed is accounted for, as an estimate
        (usage,) = item.usage
        assert usage.estimated
        assert usage.output_tokens >= 0.9 * (len(item.text) // 4)


async def test_a_reader_that_stops_early_closes_the_socket_too(
    call: Make, simulator: Simulator
) -> None:
    simulator.reset()
    made = call("sim-50x4000")
    stream = made.chat.stream("Be brief.", "Go on.", node="write")
    await anext(stream)
    await stream.aclose()
    await simulator.until(lambda s: s.aborted == 1, seconds=1)
    assert len(made.usage) == 1


async def test_a_cancel_before_the_first_token_closes_the_socket(
    call: Make, simulator: Simulator
) -> None:
    simulator.reset()
    made = call("sim-0.1x5")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(made.run())
        await simulator.until(lambda s: s.open == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await simulator.until(lambda s: s.open == 0, seconds=1)


async def test_a_cancel_in_a_wait_for_the_next_try_ends_at_once(call: Make) -> None:
    made = call("sim-0x5-429")
    async with asyncio.timeout(1.5), asyncio.TaskGroup() as group:
        task = group.create_task(made.run())
        while not made.retries:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
