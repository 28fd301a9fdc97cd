"""`patiently`: a run waits for a database that restarts; it does not fail with it."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from registry.errors import StoreDown

T = TypeVar("T")

PATIENCE: Final = 60.0  # seconds; a lease that cannot be renewed runs out before
FIRST: Final = 0.05
LONGEST: Final = 1.0


async def patiently(work: Callable[[], Awaitable[T]], seconds: float = PATIENCE) -> T:
    """What `work` returns, which is called anew while it raises `StoreDown`.

    After `seconds` the last `StoreDown` goes on. A cancel between two tries ends it at once.
    `work` must be safe to do twice: a try that failed may have been carried out.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    pause = FIRST
    while True:
        try:
            return await work()
        except StoreDown:
            if loop.time() + pause > until:
                raise
        # Not all at the same moment: whoever waits for a database, waits with many others.
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311
        pause = min(2 * pause, LONGEST)
