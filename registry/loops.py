"""Loops: what a worker does again and again, each with a beat that shows it is alive.

A pass that fails is logged and tried again after a pause; it never ends the loop, so a
loop that is gone means its task is gone, and its age says so. `registry.watchdog` looks.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import structlog

from registry.errors import RegistryError

LATE_PERIODS: Final = 6  # a loop that has not completed a pass for so many is not alive
LATE_SECONDS: Final = 30.0  # and at least for so long
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0  # seconds after a failed pass, doubled each time

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Loop:
    """`work` every `period` seconds, or earlier after `wake`."""

    name: str
    period: float
    work: Callable[[], Awaitable[None]]
    beat: float | None = None  # loop time of the last completed pass
    failures: int = 0  # in a row
    restarts: int = 0
    patience: float = LATE_SECONDS  # see `bound`
    _woken: asyncio.Event | None = None

    def wake(self) -> None:
        if self._woken is not None:
            self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        self._woken = woken = asyncio.Event()
        self.beat = loop.time()
        while True:
            woken.clear()
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
            pause = self.period
            if self.failures:
                # A wake-up must not turn a failing loop into a busy one.
                pause = min(FIRST_PAUSE * 2 ** min(self.failures, 5), LONGEST_PAUSE)
                woken = asyncio.Event()
            # Watched, not timed out: an Event's wait has nothing that a cancel could lose.
            try:
                async with asyncio.timeout(pause):
                    await woken.wait()
            except TimeoutError:
                pass
            woken = self._woken

    @property
    def age(self) -> float | None:
        """Seconds since the last completed pass; None before the first start."""
        if self.beat is None:
            return None
        return asyncio.get_running_loop().time() - self.beat

    @property
    def bound(self) -> float:
        """Seconds after which the loop counts as standing still."""
        return max(LATE_PERIODS * self.period, self.patience)

    @property
    def late(self) -> bool:
        return self.age is not None and self.age > self.bound

    def as_dict(self) -> dict[str, Any]:
        age = self.age
        return {
            "name": self.name,
            "period_seconds": self.period,
            "age_seconds": round(age, 3) if age is not None else None,
            "bound_seconds": self.bound,
            "failures": self.failures,
            "restarts": self.restarts,
            "alive": not self.late,
        }
