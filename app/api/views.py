"""From rows to what responses say."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from app.api.json_response import rfc3339
from registry.run import Run, Status, Thread

TITLE_CHARS = 80


def events_url(thread_id: UUID) -> str:
    return f"/api/threads/{thread_id}/events"


def first_title(question: str) -> str:
    """What a thread is called until the work finds a better title."""
    line = " ".join(question.split())
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[: TITLE_CHARS - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > TITLE_CHARS // 2 else cut) + "…"


def run_view(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "kind": run.kind,
        "status": run.status,
        "priority": run.priority,
        "attempt": run.attempt,
        "worker_id": run.worker_id,
        "problem": run.problem,
        "created_at": rfc3339(run.created_at),
        "started_at": rfc3339(run.started_at),
        "ended_at": rfc3339(run.ended_at),
    }


def summary(thread: Thread, run: Run) -> dict[str, Any]:
    return {
        "thread_id": thread.thread_id,
        "run_id": run.run_id,
        "question": thread.question,
        "title": thread.title,
        "status": run.status,
        "created_at": rfc3339(thread.created_at),
        "started_at": rfc3339(run.started_at),
        "ended_at": rfc3339(run.ended_at),
    }


def history_entry(row: Mapping[str, Any]) -> dict[str, Any]:
    times = ("created_at", "started_at", "ended_at")
    return {**row, **{name: rfc3339(row[name]) for name in times}}


def stopped(run: Run) -> dict[str, Any]:
    return {
        "thread_id": run.thread_id,
        "run_id": run.run_id,
        "status": run.status,
        "stopping": run.stopping,
    }


def waiting_on(run: Run) -> list[dict[str, Any]]:
    if run.status is not Status.WAITING:
        return []
    return [item.as_dict() for item in run.interrupts]


def versioned(values: Mapping[str, Any]) -> dict[str, Any]:
    """The state's values, each section with the version it belongs to, as in its event."""
    sections = [
        {"version": values.get("version", 1), **section} for section in values.get("sections", [])
    ]
    return {**values, "sections": sections}


def spans_of(state: Mapping[str, Any], n: int) -> list[dict[str, Any]]:
    """Where the thread's versions, and the one being written, cite source `n`."""
    versions = {
        int(report["version"]): report["sections"]
        for report in (state.get("reports") or {}).values()
    }
    versions.setdefault(int(state.get("version", 0)), list((state.get("sections") or {}).values()))
    return [
        {
            "start": citation["start"],
            "end": citation["end"],
            "quote": citation["quote"],
            "version": version,
            "section": section["index"],
        }
        for version, sections in sorted(versions.items())
        for section in sections
        for citation in section["citations"]
        if citation["n"] == n
    ]
