"""Loops: what a worker does again and again, each with a beat that shows it is alive.

A pass that fails is logged and tried again after a pause; it never ends the loop, so a
loop that is gone means its task is gone, and its age says so.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog

from registry.errors import RegistryError

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Loop:
    """`work` every `period` seconds, or earlier after `wake`."""

    name: str
    period: float
    work: Callable[[], Awaitable[None]]
    beat: float | None = None  # loop time of the last completed pass
    failures: int = 0  # in a row
    _woken: asyncio.Event | None = None

    def wake(self) -> None:
        if self._woken is not None:
            self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self.beat = loop.time()
        while True:
            self._woken.clear()
            try:
                await self.work()
            except Exception as error:
                self.failures += 1
                known = isinstance(error, RegistryError)
                log.warning(
                    "loop_failed",
                    loop=self.name,
                    failures=self.failures,
                    reason=str(error)[:200],
                    exc_info=None if known else error,
                )
            else:
                self.failures = 0
                self.beat = loop.time()
            # Watched, not timed out: an Event's wait has nothing that a cancel could lose.
            pause = self.period * min(1 + self.failures, 5)
            try:
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            except TimeoutError:
                continue

    def as_dict(self) -> dict[str, Any]:
        age = None
        if self.beat is not None:
            age = round(asyncio.get_running_loop().time() - self.beat, 3)
        return {
            "name": self.name,
            "period_seconds": self.period,
            "age_seconds": age,
            "failures": self.failures,
        }
