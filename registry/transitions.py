"""Transitions of the run lifecycle: each one transaction, with its events in the timeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from registry import store
from registry.database import Database, Transaction
from registry.errors import LeaseLost
from registry.events import Event, EventId
from registry.ids import uuid7
from registry.requirements import has_queued
from registry.run import Kind, Outcome, Run, Status
from registry.threads import raise_epoch
from registry.timeline import record

Claim = tuple[str, float] | None  # (worker, lease in seconds)


@dataclass(frozen=True, slots=True)
class Placed:
    """A run that was made, and its first event: `run.started`, or `run.queued`."""

    run: Run
    event: Event


def started_event(run: Run) -> Event:
    data = {
        "run_id": str(run.run_id),
        "kind": run.kind,
        "attempt": run.attempt,
        "worker_id": run.worker_id,
    }
    return Event.make(EventId(run.epoch, 1), "run.started", data)


async def place(
    tx: Transaction,
    *,
    thread_id: UUID,
    kind: Kind,
    input: Mapping[str, Any],  # noqa: A002 - the column's name
    priority: str,
    epoch: int,
    claim: Claim,
) -> Placed:
    """A new run under `epoch`, which the caller has just raised; claimed or queued."""
    run = await store.insert_run(
        tx,
        run_id=uuid7(),
        thread_id=thread_id,
        kind=kind,
        input=input,
        priority=priority,
        epoch=epoch,
        claim=claim,
    )
    event = started_event(run)
    if run.status is Status.PENDING:
        queued = {"run_id": str(run.run_id), "position": None, "eta_seconds": None}
        event = Event.make(EventId(epoch, 1), "run.queued", queued)
    await record(tx, thread_id, run.run_id, event)
    return Placed(run, event)


async def claim_next(database: Database, worker_id: str, lease: float) -> Placed | None:
    """Claims the oldest pending run; its `run.started` is in the same transaction."""
    async with database.transaction() as tx:
        run = await store.claim_pending(tx, worker_id, lease)
        if run is None:
            return None
        event = started_event(run)
        await record(tx, run.thread_id, run.run_id, event)
        return Placed(run, event)


async def cancel_now(tx: Transaction, run: Run, *, by: str) -> Event | None:
    """Ends a run that nobody executes; None where it was not such a run any more."""
    if not await store.cancel_idle(tx, run.run_id, by=by):
        return None
    epoch = await raise_epoch(tx, run.thread_id)
    data = {"run_id": str(run.run_id), "by": by, "reason": "stopped"}
    event = Event.make(EventId(epoch, 1), "run.cancelled", data)
    await record(tx, run.thread_id, run.run_id, event)
    return event


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: its events in order (the last one ends it), and the run that its
    ending started, if any."""

    status: Status
    events: Sequence[Event]
    successor: Placed | None


async def finish(
    database: Database,
    run: Run,
    outcome: Outcome | None,
    *,
    next_id: EventId,
    claim: Claim,
    counters: Mapping[str, float],
) -> Ended:
    """running -> ended. `outcome` None: it was cancelled. `next_id` numbers its events.

    A durable cancel intent wins over waiting and failure. A success with requirements still
    queued starts the modify run that takes them, unless a stop came in the same moment: then
    they wait for the next one. Raises `LeaseLost` for an old epoch.
    """
    async with database.transaction() as tx:
        row = await tx.fetch_one(
            """
            -- Both rows: of one that is not locked, an older version is read after a wait.
            SELECT t.epoch, r.status, r.cancel_mode, r.cancel_by
            FROM threads t JOIN runs r USING (thread_id)
            WHERE r.run_id = %(run_id)s FOR UPDATE OF t, r
            """,
            {"run_id": run.run_id},
        )
        if row is None or row["epoch"] != run.epoch or row["status"] != "running":
            raise LeaseLost
        stop = row["cancel_mode"] == "stop"
        if outcome is None or (stop and outcome.status != "succeeded"):
            by = str(row["cancel_by"] or "")
            status, events = Status.CANCELLED, _cancelled_events(run, next_id, by)
            outcome = Outcome("failed")
        else:
            status, events = Status(outcome.status), _ending_events(run, outcome, next_id)
        if not await store.end_run(
            tx,
            run.run_id,
            epoch=run.epoch,
            status=status,
            interrupts=outcome.interrupts if status is Status.WAITING else (),
            problem=outcome.problem if status is Status.FAILED else None,
            counters=counters,
        ):
            raise LeaseLost
        await record(tx, run.thread_id, run.run_id, *events)
        if outcome.title:
            await tx.execute(
                "UPDATE threads SET title = %(title)s WHERE thread_id = %(id)s",
                {"title": outcome.title, "id": run.thread_id},
            )
        successor = None
        if status is Status.SUCCEEDED and not stop and await has_queued(tx, run.thread_id):
            epoch = await raise_epoch(tx, run.thread_id)
            successor = await place(
                tx,
                thread_id=run.thread_id,
                kind="modify",
                input={},
                priority=run.priority,
                epoch=epoch,
                claim=claim,
            )
        return Ended(status, events, successor)


def _cancelled_events(run: Run, next_id: EventId, by: str) -> list[Event]:
    data = {"run_id": str(run.run_id), "by": by, "reason": "stopped"}
    return [Event.make(next_id, "run.cancelled", data)]


def _ending_events(run: Run, outcome: Outcome, next_id: EventId) -> list[Event]:
    events: list[Event] = []
    ending: dict[str, Any] = {"run_id": str(run.run_id)}
    if outcome.status == "waiting":
        interrupts = [item.as_dict() for item in outcome.interrupts]
        for item in interrupts:
            event_id = EventId(next_id.epoch, next_id.seq + len(events))
            events.append(Event.make(event_id, "interrupt", item))
        ending["interrupts"] = interrupts
    elif outcome.status == "failed":
        ending["problem"] = dict(outcome.problem or {})
    event_id = EventId(next_id.epoch, next_id.seq + len(events))
    events.append(Event.make(event_id, f"run.{outcome.status}", ending))
    return events
