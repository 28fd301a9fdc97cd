"""ThreadStates: what a page needs to redraw a thread from nothing."""

from dataclasses import dataclass
from typing import Any

from app.body import Workflow, thread_config
from app.meter import usage_of
from app.saver import RunSaver
from graph import values
from registry.channel import ThreadLog
from registry.events import EventId
from registry.replicas import Replicas
from registry.requirements import Requirements
from registry.run import ENDED, Run
from registry.timeline import Timeline
from registry.worker import Worker


@dataclass(frozen=True, slots=True)
class ThreadState:
    """`values`, `usage`: the contract's. `cursor`: the last event they reflect. `raw`: the
    workflow's own state, for reports and sources."""

    values: dict[str, Any]
    raw: dict[str, Any]
    next: list[str]
    cursor: EventId
    usage: dict[str, Any]


class ThreadStates:
    def __init__(
        self, workflow: Workflow, worker: Worker, replicas: Replicas | None = None
    ) -> None:
        self._workflow = workflow
        self._replicas = replicas
        self._worker = worker
        self._database = worker.database
        self._logs = worker.logs
        self._timeline = Timeline(worker.database)
        self._requirements = Requirements(worker.database)

    async def raw(self, run: Run) -> dict[str, Any]:
        """The workflow's state of the run's thread; empty before its first checkpoint."""
        return (await self._snapshot(run)).values

    async def read(self, run: Run) -> ThreadState:
        """State of the thread whose latest run this is."""
        snapshot = await self._snapshot(run)
        raw: dict[str, Any] = snapshot.values
        view = values(raw)
        view["requirements"] = await self._wishes(run, view.get("requirements", []))
        reflected = EventId.parse(str(raw.get("cursor", ""))) or EventId(0, 0)
        cursor = await self._cursor(run, reflected)
        return ThreadState(view, raw, list(snapshot.next), cursor, await self._usage(run))

    async def _usage(self, run: Run) -> dict[str, Any]:
        """Of the thread so far, with what a run that executes here has used already."""
        emit = self._worker.emit_of(run.run_id)
        live = dict(emit.counters) if emit is not None else {}
        return usage_of(await self._worker.store.counters(run.thread_id), live)

    async def _snapshot(self, run: Run) -> Any:
        graph = self._workflow.copy(update={"checkpointer": RunSaver(self._database)})
        return await graph.aget_state(thread_config(run.thread_id))

    async def _wishes(self, run: Run, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows, with what the workflow already says of them."""
        table = {item["id"]: item for item in known}
        out: list[dict[str, Any]] = []
        for row in await self._requirements.of_thread(run.thread_id):
            key = str(row["requirement_id"])
            status = "applied" if table.get(key, {}).get("status") == "applied" else row["status"]
            out.append({**table.get(key, {}), **row["body"], "id": key, "status": status})
        return out

    async def _cursor(self, run: Run, reflected: EventId) -> EventId:
        """Where to follow from: `reflected`, if all after it can still be had; else the
        oldest place from which nothing is missing, so that a gap is told once and not again.
        """
        log = self._logs.get(run.thread_id)
        if log is not None and log.channels:
            if _holds(log, reflected):
                return reflected
            if log.live or run.status not in ENDED:
                first = log.channels[-1].first_id
                return max(reflected, EventId(first.epoch, first.seq - 1))
        last = await self._timeline.last(run.thread_id)
        if run.status in ENDED and last is not None:
            return max(reflected, last.id)
        reflected = max(reflected, EventId(run.epoch, 0))
        if self._replicas is not None:
            oldest = await self._replicas.oldest(run.thread_id)
            if oldest is not None and oldest > EventId(reflected.epoch, reflected.seq + 1):
                return EventId(oldest.epoch, oldest.seq - 1)
        return reflected


def _holds(log: ThreadLog, cursor: EventId) -> bool:
    """Every event after the cursor is in memory, without a hole."""
    held = [channel for channel in log.channels if channel.epoch >= cursor.epoch]
    if not held or held[0].epoch != cursor.epoch or held[0].first_id.seq > cursor.seq + 1:
        return False
    return all(channel.first_id.seq == 1 for channel in held[1:])
