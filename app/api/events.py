"""`GET /api/threads/{id}/events`: the stream. Readers come and go; the run never notices."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from app.api.inputs import Calling, ThreadId, Wired
from app.api.problems import Refused, invalid
from app.api.streaming import stream_of
from registry.events import EventId

router = APIRouter(prefix="/api/threads/{thread_id}", tags=["events"])


@router.get(
    "/events",
    response_class=Response,
    responses={
        200: {"description": "Server-sent events", "content": {"text/event-stream": {}}},
        204: {"description": "The cursor is at the end of an ended thread"},
    },
)
async def events(
    wired: Wired,
    caller: Calling,
    thread_id: ThreadId,
    after: Annotated[str | None, Query(description="Cursor; 0-0: all that is kept")] = None,
    last_event_id: Annotated[str | None, Header(description="Cursor; wins over `after`")] = None,
) -> Response:
    """Events after the cursor; without one, from the start of the latest run."""
    cursor = None
    if after is not None:
        cursor = EventId.parse(after)
        if cursor is None:
            raise Refused(invalid("after: an event id such as 3-17, or 0-0."))
    # What a reader's library sends on its own is not the reader's fault: ignored if malformed.
    seen = EventId.parse(last_event_id) if last_event_id is not None else None
    await wired.service.commands.thread(caller.name, thread_id)
    return await stream_of(wired, thread_id, seen or cursor)
