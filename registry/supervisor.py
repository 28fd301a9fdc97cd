"""The supervisor: executes one claimed run and writes its outcome, whatever happens.

Invariants:
1. The outcome is committed before its event is sent.
2. A CancelledError is never turned into a failure: the reason of the cancel decides
   (a stop is `cancelled`, a shutdown hands the run back, a lost lease writes nothing),
   and the error goes on once that is written.
3. The channel is closed on every path.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from uuid import UUID

import structlog

from registry.channel import Channel, Logs
from registry.database import Database
from registry.errors import LeaseLost, StoreDown
from registry.events import EventId
from registry.run import Body, Outcome, Run
from registry.settle import settle
from registry.store import RunStore
from registry.tasks import Entry
from registry.transitions import Claim, Ended, Placed, finish

INTERNAL: Final = "/problems/internal"  # what nobody foresaw: only this needs a traceback
Describe = Callable[[BaseException], Mapping[str, Any]]

log = structlog.get_logger(__name__)


class ChannelEmit:
    """`Emit` over a channel; see `registry.run.Emit`."""

    def __init__(self, logs: Logs, thread_id: UUID, channel: Channel) -> None:
        self._logs = logs
        self._thread_id = thread_id
        self.channel = channel
        self.counters: dict[str, float] = {}
        self._request: str | None = None
        self._callback: Callable[[str], None] | None = None

    def __call__(self, name: str, data: Mapping[str, Any]) -> EventId:
        return self._logs.append(self._thread_id, self.channel, name, data).id

    @property
    def cursor(self) -> EventId:
        return self.channel.last_id

    def on_request(self, callback: Callable[[str], None]) -> None:
        self._callback = callback
        if self._request is not None:
            callback(self._request)

    def request(self, reason: str) -> None:
        """Asks the body to come to a step boundary. A shutdown is never taken back."""
        if self._request != "shutdown":
            self._request = reason
        if self._callback is not None:
            self._callback(self._request)

    @property
    def shutting_down(self) -> bool:
        return self._request == "shutdown"

    def answered(self) -> None:
        """The body has come to the boundary for a `modify`."""
        if self._request == "modify":
            self._request = None


class Supervisor:
    """Executes runs. `on_end(entry, successor)` is called after each, in the run's own task, and
    `on_pending` with each run that any worker may claim now."""

    def __init__(
        self,
        database: Database,
        logs: Logs,
        body: Body,
        describe: Describe,
        *,
        claim: Callable[[], Claim],
        on_end: Callable[[Entry, Placed | None], None],
        on_pending: Callable[[Run], Awaitable[None]],
        mirrored: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._database = database
        self._store = RunStore(database)
        self._logs = logs
        self._body = body
        self._describe = describe
        self._claim = claim
        self._on_end = on_end
        self._on_pending = on_pending
        self._mirrored = mirrored

    async def execute(self, run: Run, emit: ChannelEmit, entry: Entry) -> Ended | None:
        """Runs the body to its end and writes the outcome; None where there is none to write
        (handed back, or the lease was lost). Re-raises CancelledError at the very end."""
        cancelled: asyncio.CancelledError | None = None
        outcome: Outcome | None = None
        try:
            outcome = await self._body(run, emit)
        except asyncio.CancelledError as error:
            cancelled = error
            if entry.reason is None:  # cancelled by nobody we know: a fault, not a wish
                outcome = Outcome("failed", problem=self._describe(error))
        except LeaseLost:
            entry.reason = "lease_lost"
        except StoreDown as error:
            # For longer than the body was willing to wait. It is no fault of the run: once
            # the database is back, the orphan scan finds it, and it goes on.
            log.warning("run_without_store", run_id=str(run.run_id), reason=error.reason)
            entry.reason = "lease_lost"
        except Exception as error:
            outcome = Outcome("failed", problem=self._describe(error))
            unforeseen = (outcome.problem or {}).get("type") == INTERNAL
            log.warning("run_failed", problem=outcome.problem, exc_info=unforeseen)
        entry.settling = True
        ended: Ended | None = None
        try:
            ended = await settle(self._write(run, emit, entry, outcome))
        except asyncio.CancelledError as error:  # after its end: the outcome is written
            cancelled = error
        if cancelled is not None:
            raise cancelled
        return ended

    async def _write(
        self, run: Run, emit: ChannelEmit, entry: Entry, outcome: Outcome | None
    ) -> Ended | None:
        successor: Placed | None = None
        try:
            if entry.reason == "lease_lost":
                log.warning("lease_lost", run_id=str(run.run_id))
                return None
            shutdown = outcome is None and entry.reason == "shutdown"
            if shutdown or (outcome is not None and outcome.status == "handed_back"):
                # Before anybody else can claim it: what a later epoch has written cannot be
                # added to any more.
                self._logs.close(run.thread_id, emit.channel)
                if self._mirrored is not None:
                    await self._mirrored()
                if await self._hand_back(run):
                    return None
                outcome = None  # a stop came first, or the lease was lost: the row tells
            ended = await self._finish(run, emit, outcome)
            if ended is None:
                return None
            for event in ended.events:
                self._logs.put(run.thread_id, emit.channel, event)
            successor = ended.successor
            if successor is not None and successor.run.worker_id is None:
                await self._on_pending(successor.run)
            return ended
        finally:
            self._logs.close(run.thread_id, emit.channel)
            self._on_end(entry, successor)

    async def _finish(self, run: Run, emit: ChannelEmit, outcome: Outcome | None) -> Ended | None:
        """Tries for as long as the lease may hold: a database that restarts must not cost
        a finished run its outcome. After that the orphan scan takes the run."""
        for pause in (0.1, 0.3, 1.0, 3.0, 9.0, None):
            try:
                return await finish(
                    self._database,
                    run,
                    outcome,
                    next_id=emit.channel.next_id,
                    claim=self._claim(),
                    counters=emit.counters,
                )
            except LeaseLost:
                log.warning("outcome_refused", run_id=str(run.run_id))
                return None
            except StoreDown as error:
                log.warning("outcome_delayed", run_id=str(run.run_id), reason=error.reason)
                if pause is None:
                    return None
                await asyncio.sleep(pause)
        return None

    async def _hand_back(self, run: Run) -> bool:
        """False where there is something else to write."""
        try:
            handed = await self._store.hand_back(run.run_id, run.epoch)
        except StoreDown as error:
            # The lease runs out instead; the orphan scan does the rest.
            log.warning("hand_back_failed", run_id=str(run.run_id), reason=error.reason)
            return True
        if handed:
            await self._on_pending(run)
        return handed
