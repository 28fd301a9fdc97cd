"""Leases: what keeps the runs of a worker its own, and what tells it that they are not.

Invariants:
1. A renewal names run and epoch: it never takes back what somebody else has claimed.
2. One statement renews all runs of the worker, and brings back what was asked of them.
3. A run whose renewal is refused, or that cannot be renewed before its lease ends by this
   process's own clock, is cancelled at once: not knowing is the same as having lost.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from registry.store import RunStore
from registry.tasks import Entry, TaskRegistry

MARGIN: Final = 0.1  # of a lease: a claim's transaction began before its run was launched
CHECK: Final = 0.5  # seconds between two looks at the clock

log = structlog.get_logger(__name__)


class Leases:
    """`on_stop(entry, by)`: a durable stop was found; `on_wish(entry)`: a requirement was."""

    def __init__(
        self,
        tasks: TaskRegistry,
        store: RunStore,
        *,
        worker_id: str,
        seconds: float,
        on_stop: Callable[[Entry, str], None],
        on_wish: Callable[[Entry], Awaitable[None]],
    ) -> None:
        self.seconds = seconds
        self._tasks = tasks
        self._store = store
        self._worker_id = worker_id
        self._on_stop = on_stop
        self._on_wish = on_wish

    def hold(self, entry: Entry, epoch: int) -> None:
        """The run of this entry was claimed under `epoch`, just now."""
        entry.epoch = epoch
        now = asyncio.get_running_loop().time()
        entry.lease_until = now + self.seconds * (1 - MARGIN)

    async def renew(self) -> None:
        """One pass: renews all, cancels what is lost, hands on what was asked."""
        # Only what really executes: a claim whose launch was cut off must lapse.
        entries = [entry for entry in self._tasks.entries() if not entry.settling]
        if not entries:
            return
        asked = asyncio.get_running_loop().time()
        runs = {entry.run_id: entry.epoch for entry in entries}
        rows = await self._store.renew(self._worker_id, runs, self.seconds)
        held = {row["run_id"]: row for row in rows}
        for entry in entries:
            row = held.get(entry.run_id)
            if entry.settling or entry.task.done():
                continue
            if row is None:
                self._tasks.request_cancel(entry, "lease_lost")
                continue
            entry.lease_until = asked + self.seconds
            if row["cancel_mode"] == "stop":
                self._on_stop(entry, str(row["cancel_by"] or ""))
            elif row["wishes"]:
                await self._on_wish(entry)

    async def expire(self) -> None:
        """One pass of the clock: whatever could not be renewed in time is cancelled."""
        now = asyncio.get_running_loop().time()
        for entry in self._tasks.entries():
            if now > entry.lease_until and entry.reason != "lease_lost" and not entry.settling:
                log.warning("lease_ran_out", run_id=str(entry.run_id))
                self._tasks.request_cancel(entry, "lease_lost")
