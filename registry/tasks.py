"""TaskRegistry: the runs that execute in this process, one per thread, with true cancel.

Invariants:
1. One live task per thread; a second registration raises `RunActive`, unless the first has
   lost its lease: then the second waits for its end.
2. The registry holds a strong reference until the task is done; a done-callback removes it.
3. A cancel is a request until the task is done: it is repeated every `REPEAT` seconds while
   the body runs. Once the body has ended (`settling`) the rest, which writes the outcome,
   is left alone, and the thread's next run may register: it waits for `released`.
"""

import asyncio
import math
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from uuid import UUID

import structlog

from registry.errors import RunActive
from registry.settle import outlast

REPEAT: Final = 0.02  # seconds between two cancels of a task that is still alive
SLOW: Final = 2.0  # seconds after which a task that will not end is logged

Reason = Literal["stop", "shutdown", "lease_lost"]

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Entry:
    """A registered run. `reason`: why it was asked to end, once it was."""

    thread_id: UUID
    run_id: UUID
    task: asyncio.Task[Any]
    epoch: int = 0
    lease_until: float = math.inf  # loop time; see `registry.leases`
    reason: Reason | None = None
    settling: bool = False
    adopted: bool = False  # `register_current`: whoever awaits the task goes on after the run
    canceller: asyncio.Task[None] | None = field(default=None, repr=False)
    released: asyncio.Event = field(default_factory=asyncio.Event, repr=False)


async def outlive(entry: Entry) -> None:
    """Waits until a settling run has sent its last event and left the registry.

    A cancel meanwhile is not lost: the registry repeats it, and the supervisor hears it.
    """
    while not entry.released.is_set():
        try:
            await entry.released.wait()
        except asyncio.CancelledError:
            continue


class TaskRegistry:
    def __init__(self) -> None:
        self._entries: dict[UUID, Entry] = {}  # by run
        self._threads: dict[UUID, Entry] = {}  # the latest entry of each thread
        self._cancellers: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def get(self, thread_id: UUID) -> Entry | None:
        return self._threads.get(thread_id)

    def of_run(self, run_id: UUID) -> Entry | None:
        return self._entries.get(run_id)

    def register(self, thread_id: UUID, run_id: UUID, work: Coroutine[Any, Any, None]) -> Entry:
        """Creates the run's task. Raises `RunActive` where the thread has a live one."""
        try:
            self._check(thread_id)
        except RunActive:
            work.close()
            raise
        task = asyncio.get_running_loop().create_task(work, name=f"run:{run_id}")
        return self._add(thread_id, run_id, task)

    def register_current(self, thread_id: UUID, run_id: UUID) -> Entry:
        """Adopts the running task as the run's: a terminal, or a test, that awaits it itself."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("register_current is called from inside the run's own task")
        self._check(thread_id)
        entry = self._add(thread_id, run_id, task)
        entry.adopted = True
        return entry

    def _check(self, thread_id: UUID) -> None:
        live = self._threads.get(thread_id)
        if live is not None and not live.settling and live.reason != "lease_lost":
            raise RunActive(thread_id, live.run_id)

    def _add(self, thread_id: UUID, run_id: UUID, task: asyncio.Task[Any]) -> Entry:
        entry = Entry(thread_id, run_id, task)
        self._entries[run_id] = self._threads[thread_id] = entry
        task.add_done_callback(lambda _: self.release(entry))
        return entry

    def release(self, entry: Entry) -> None:
        """Removes the entry. By itself when its task is done; by an adopted task that goes on."""
        if self._entries.get(entry.run_id) is entry:
            del self._entries[entry.run_id]
        if self._threads.get(entry.thread_id) is entry:
            del self._threads[entry.thread_id]
        entry.released.set()

    def request_cancel(self, entry: Entry, reason: Reason) -> None:
        """Asks the run to end and keeps asking until it has. Returns at once.

        The first reason stands, but a stop by a person replaces a shutdown, and a lost
        lease replaces both: then nothing may be written any more.
        """
        rank = {None: 0, "shutdown": 1, "stop": 2, "lease_lost": 3}
        if rank[reason] > rank[entry.reason]:
            entry.reason = reason
        if entry.canceller is None:
            task = asyncio.get_running_loop().create_task(self._cancel(entry))
            entry.canceller = task
            self._cancellers.add(task)
            task.add_done_callback(self._cancellers.discard)

    async def _cancel(self, entry: Entry) -> None:
        loop = asyncio.get_running_loop()
        since, told = loop.time(), False
        while not entry.task.done() and not entry.settling:
            entry.task.cancel()
            await asyncio.wait({entry.task}, timeout=REPEAT)
            if not told and loop.time() - since > SLOW and not entry.settling:
                told = True
                log.warning("cancel_is_slow", run_id=str(entry.run_id), seconds=SLOW)

    async def ended(self, entry: Entry, timeout: float | None) -> bool:
        """Waits for the task's end, without touching it; whether it came in time."""
        if entry.task.done():
            return True
        done, _ = await asyncio.wait({entry.task}, timeout=timeout)
        return bool(done)

    async def end_all(self, reason: Reason, timeout: float) -> list[Entry]:
        """Cancels every run and waits; those that are still alive after `timeout` seconds."""
        entries = self.entries()
        for entry in entries:
            self.request_cancel(entry, reason)
        if entries:
            await asyncio.wait({entry.task for entry in entries}, timeout=timeout)
        return [entry for entry in entries if not entry.task.done()]

    async def close(self) -> None:
        """Ends the cancellers themselves; the registry must hold no run by now."""
        for task in list(self._cancellers):
            task.cancel()
            await outlast(task)
