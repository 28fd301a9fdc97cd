"""Threads: start one, list one's own, look at one, delete one."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.api.inputs import Calling, Key, ThreadId, Wired, as_uuid
from app.api.json_body import JsonRoute
from app.api.json_response import Json, rfc3339
from app.api.problems import Refused, invalid
from app.api.schemas import Start
from app.api.shapes import History, Started, StateView, Summary
from app.api.streaming import accepted
from app.api.views import (
    events_url,
    first_title,
    history_entry,
    run_view,
    summary,
    versioned,
    waiting_on,
)
from app.api.wiring import Wiring
from app.states import ThreadState
from registry.errors import NotFound
from registry.events import scrub
from registry.run import Run, Status

router = APIRouter(prefix="/api/threads", tags=["threads"], route_class=JsonRoute)

READS = 3  # of a state whose run moves on while it is read


@router.post("", status_code=202, response_model=Started)
async def start(request: Request, wired: Wired, caller: Calling, key: Key, body: Start) -> Response:
    """Starts research on a question. With `Accept: text/event-stream`: streams that run."""
    made = await wired.service.commands.start(
        caller.name,
        question=body.question,
        title=first_title(body.question),
        input=body.work(),
        priority=caller.cap(body.priority),
        key=key.of(body),
    )
    run = await wired.service.commands.latest(made.thread_id)
    answer = {
        "thread_id": made.thread_id,
        "run_id": made.run_id,
        "status": made.status,
        "events_url": events_url(made.thread_id),
        "queue": await queue_of(wired, run),
    }
    return await accepted(request, wired, made.thread_id, made.run_id, answer)


@router.get("", response_model=History)
async def history(
    wired: Wired,
    caller: Calling,
    q: Annotated[str, Query(max_length=500)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    after: str | None = None,
) -> Response:
    """The caller's threads, newest first; `next` is the `after` of the next page."""
    rows, following = await wired.service.commands.history(
        caller.name, query=str(scrub(q)).strip(), limit=limit, after=_page(after)
    )
    return Json({"threads": [history_entry(row) for row in rows], "next": following})


def _page(after: str | None) -> UUID | None:
    try:
        return None if after is None else as_uuid(after, "page")
    except NotFound:
        raise Refused(invalid("after: take it from `next` of the page before.")) from None


@router.get("/{thread_id}", response_model=Summary)
async def look(wired: Wired, caller: Calling, thread_id: ThreadId) -> Response:
    thread = await wired.service.commands.thread(caller.name, thread_id)
    return Json(summary(thread, await wired.service.commands.latest(thread_id)))


@router.delete("/{thread_id}", status_code=204)
async def delete(wired: Wired, caller: Calling, thread_id: ThreadId) -> Response:
    """Cancels, then removes everything. 202 where the run takes longer to end."""
    if await wired.service.commands.delete(caller.name, thread_id):
        return Response(status_code=204)
    return Json({"thread_id": thread_id, "status": "deleting"}, 202)


@router.get("/{thread_id}/state", response_model=StateView)
async def state(wired: Wired, caller: Calling, thread_id: ThreadId) -> Response:
    """Enough to redraw a page from nothing; follow the events from `cursor`."""
    commands = wired.service.commands
    thread = await commands.thread(caller.name, thread_id)
    run, seen = await _read(wired, thread_id)
    return Json(
        {
            "thread_id": thread_id,
            "question": thread.question,
            "title": thread.title,
            "status": run.status,
            "stopping": run.stopping,
            "run": run_view(run),
            "next": seen.next,
            "interrupts": waiting_on(run),
            "interrupted_by_restart": run.status is Status.INTERRUPTED,
            "cursor": str(seen.cursor),
            "queue": await queue_of(wired, run),
            "values": versioned(seen.values),
            "usage": seen.usage,
            "created_at": rfc3339(thread.created_at),
            "started_at": rfc3339(run.started_at),
            "ended_at": rfc3339(run.ended_at),
        }
    )


@router.get("/{thread_id}/timeline")
async def timeline(wired: Wired, caller: Calling, thread_id: ThreadId) -> Response:
    """The durable lifecycle events of the thread, oldest first."""
    entries = await wired.service.commands.timeline(caller.name, thread_id)
    return Json({"events": [entry.as_dict() for entry in entries]})


async def _read(wired: Wiring, thread_id: UUID) -> tuple[Run, ThreadState]:
    """The latest run and the state, of one moment: read again where the run has moved on."""
    run = await wired.service.commands.latest(thread_id)
    for _ in range(READS):
        seen = await wired.service.states.read(run)
        latest = await wired.service.commands.latest(thread_id)
        if (latest.run_id, latest.status, latest.epoch) == (run.run_id, run.status, run.epoch):
            return latest, seen
        run = latest
    return run, await wired.service.states.read(run)


async def queue_of(wired: Wiring, run: Run) -> dict[str, Any] | None:
    """The place of a pending run; None for all others."""
    if run.status is not Status.PENDING:
        return None
    ahead = await wired.service.commands.worker.store.pending_before(run.run_id)
    return {"position": ahead + 1, "eta_seconds": None}
