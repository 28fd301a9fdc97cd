"""What is asked of a thread: cancel, resume, answer, modify. Allowed or not: the status table."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.inputs import Calling, Key, ThreadId, Wired
from app.api.json_body import JsonRoute
from app.api.json_response import Json
from app.api.schemas import Answer, Cancel, Modify, Resume
from app.api.shapes import Modified, Started, Stopped
from app.api.streaming import accepted
from app.api.threads import queue_of
from app.api.views import events_url, stopped
from app.api.wiring import Wiring
from graph.answers import validate_answer
from registry.commands import Accepted
from registry.run import Status

router = APIRouter(prefix="/api/threads/{thread_id}", tags=["commands"], route_class=JsonRoute)

CANCEL_WAIT: Final = 10.0  # seconds


@router.post("/cancel", response_model=Stopped)
async def cancel(wired: Wired, caller: Calling, thread_id: ThreadId, body: Cancel) -> Response:
    """202 while it stops, 200 once it has; again is no error."""
    run = await wired.service.commands.cancel(
        caller.name,
        thread_id,
        mode=body.mode,
        by=caller.name,
        wait_seconds=CANCEL_WAIT if body.wait else None,
    )
    return Json(stopped(run), 202 if run.status is Status.RUNNING else 200)


@router.post("/resume", status_code=202, response_model=Started)
async def resume(
    request: Request, wired: Wired, caller: Calling, thread_id: ThreadId, key: Key, body: Resume
) -> Response:
    """Goes on from the last checkpoint."""
    made = await wired.service.commands.resume(
        caller.name, thread_id, finish=body.finish, key=key.of(body)
    )
    return await _started(request, wired, made)


@router.post("/answer", status_code=202, response_model=Started)
async def answer(
    request: Request, wired: Wired, caller: Calling, thread_id: ThreadId, key: Key, body: Answer
) -> Response:
    """Answers one interrupt, once. A wrong shape is 422, and the interrupt still stands."""
    commands = wired.service.commands
    await commands.thread(caller.name, thread_id)
    run = await commands.latest(thread_id)
    asked = next((item for item in run.interrupts if item.id == body.interrupt_id), None)
    value = body.value
    if asked is not None and run.status is Status.WAITING:
        value = validate_answer(asked.kind, asked.payload, value)
    made = await commands.answer(
        caller.name, thread_id, interrupt_id=body.interrupt_id, value=value, key=key.of(body)
    )
    return await _started(request, wired, made)


@router.post("/modify", status_code=202, response_model=Modified)
async def modify(
    request: Request, wired: Wired, caller: Calling, thread_id: ThreadId, key: Key, body: Modify
) -> Response:
    """Adds a requirement at any time; a finished thread gets a new version of its report."""
    made = await wired.service.commands.modify(
        caller.name, thread_id, body=body.model_dump(), key=key.of(body)
    )
    said = {
        "thread_id": thread_id,
        "requirement_id": made.requirement_id,
        "status": "queued",
        "run_id": made.run_id,
        "events_url": events_url(thread_id),
    }
    return await accepted(request, wired, thread_id, made.run_id, said)


async def _started(request: Request, wired: Wiring, made: Accepted) -> Response:
    run = await wired.service.commands.latest(made.thread_id)
    said = {
        "thread_id": made.thread_id,
        "run_id": made.run_id,
        "status": made.status,
        "events_url": events_url(made.thread_id),
        "queue": await queue_of(wired, run),
    }
    return await accepted(request, wired, made.thread_id, made.run_id, said)
