"""Waiting in tests: for a condition, with a limit, never for a time."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], bool], *, seconds: float = 10) -> None:
    """Returns as soon as the condition holds; TimeoutError after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)
