"""Event streams of a thread, and the choice between a stream and JSON."""

from typing import Any
from uuid import UUID

from fastapi import Request
from starlette.responses import Response

from app.api.json_response import Json
from app.api.views import events_url
from app.api.wiring import Wiring
from app.stream.response import EventStream
from registry.events import EventId


def wants_events(request: Request) -> bool:
    """The Accept header names event streams themselves; `*/*` is not enough."""
    for item in request.headers.get("accept", "").split(","):
        kind, *parameters = (part.strip().lower() for part in item.split(";"))
        if kind == "text/event-stream":
            return not any(p.replace(" ", "") in ("q=0", "q=0.0") for p in parameters)
    return False


async def stream_of(
    wired: Wiring, thread_id: UUID, after: EventId | None, headers: dict[str, str] | None = None
) -> Response:
    """Events after the cursor, or 204 where none can ever come. The owner was checked."""
    position = await wired.service.follower.locate(thread_id, after)
    if position.at_end:
        return Response(status_code=204, headers={"Cache-Control": "no-store"})
    settings = wired.service.settings
    frames = wired.service.follower.frames(thread_id, position)
    return EventStream(
        wired.streams.bounded(frames),
        heartbeat=settings.heartbeat_seconds,
        send_timeout=settings.send_timeout_seconds,
        headers=headers,
    )


async def accepted(
    request: Request, wired: Wiring, thread_id: UUID, run_id: UUID | None, body: dict[str, Any]
) -> Response:
    """202 with JSON, or that run's events where the request asks for them."""
    where = {"Location": events_url(thread_id)}
    if run_id is None or not wants_events(request):
        return Json(body, 202, where)
    where["Content-Location"] = f"/api/threads/{thread_id}/runs/{run_id}"
    return await stream_of(wired, thread_id, None, where)
