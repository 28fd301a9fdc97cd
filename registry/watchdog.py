"""The watchdog: runs the loops, and starts one again that is dead or stands still.

A loop that stands still is cancelled first and started again once its task has ended, so
no loop ever runs twice. Runs are not touched: they live in tasks of their own.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import structlog

from registry.loops import Loop
from registry.tasks import REPEAT

PERIOD: Final = 1.0  # seconds between two looks
PATIENCE: Final = 1.0  # seconds for a cancelled loop to end; else it is asked at the next look
ASLEEP: Final = 5.0  # a look so much too late: the whole process stood still, not a loop

log = structlog.get_logger(__name__)


class Watchdog:
    def __init__(self, loops: Sequence[Loop]) -> None:
        self.loop = Loop("watchdog", PERIOD, self.look)
        self._loops = list(loops)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._looked: float | None = None

    @property
    def loops(self) -> list[Loop]:
        """All of them, the watchdog's own included."""
        return [*self._loops, self.loop]

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Runs the loops in the background of the block."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for loop in self.loops:
                self._start(loop)
            try:
                yield
            finally:
                self._group = None
                await self._end()

    def _start(self, loop: Loop) -> None:
        if self._group is not None:
            loop.beat = asyncio.get_running_loop().time()
            task = self._group.create_task(loop.run(), name=f"loop:{loop.name}")
            self._tasks[loop.name] = task

    async def _end(self) -> None:
        """A cancel is a request until the task is done: a library may have dropped it."""
        while left := [task for task in self._tasks.values() if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=REPEAT)

    async def look(self) -> None:
        """One pass: every loop that is dead or late is started again."""
        now = asyncio.get_running_loop().time()
        before, self._looked = self._looked, now
        if before is not None and now - before > PERIOD + ASLEEP:
            return  # all beats are old alike; the next look tells who really stands still
        for loop in self._loops:
            task = self._tasks[loop.name]
            if not task.done() and loop.late:
                log.warning("loop_late", loop=loop.name, age=loop.age)
                task.cancel()
                await asyncio.wait({task}, timeout=PATIENCE)
            if task.done() and self._group is not None:
                loop.restarts += 1
                log.warning("loop_restarted", loop=loop.name, restarts=loop.restarts)
                self._start(loop)
