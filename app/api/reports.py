"""The report in its formats, and the sources with the passages it cites."""

import asyncio
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.api.inputs import Calling, ThreadId, Wired
from app.api.json_response import Json
from app.api.problems import Refused, invalid
from app.api.shapes import SourceView
from app.api.views import spans_of
from app.export.html import CONTENT_POLICY, to_html
from app.export.markdown import to_markdown
from app.export.report import pick
from registry.errors import NotFound

router = APIRouter(prefix="/api/threads/{thread_id}", tags=["reports"])

Format = Literal["md", "html", "json", "docx", "pdf"]
MAX_NUMBER: Final = 1_000_000


@router.get(
    "/report",
    response_class=Response,
    responses={
        200: {
            "content": {
                "text/markdown": {},
                "text/html": {},
                "application/json": {},
            },
            "description": "The report",
        }
    },
)
async def report(
    wired: Wired,
    caller: Calling,
    thread_id: ThreadId,
    format: Annotated[Format, Query(description="docx and pdf are not made yet")] = "md",  # noqa: A002 - the contract's name
    version: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None,
) -> Response:
    """The newest version, or the one asked for; 404 until there is one."""
    await wired.service.commands.thread(caller.name, thread_id)
    if format in ("docx", "pdf"):
        raise Refused(invalid(f"format: {format} is not made yet; take md, html or json."))
    run = await wired.service.commands.latest(thread_id)
    found = pick(await wired.service.states.raw(run), version)
    if found is None:
        raise NotFound("report")
    if format == "json":
        return Json(found)
    name = f"report-{str(thread_id)[-12:]}-v{found['version']}.{format}"
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'inline; filename="{name}"',
        "Content-Language": str(found["language"]),
    }
    if format == "md":
        return Response(to_markdown(found), headers=headers, media_type="text/markdown")
    headers["Content-Security-Policy"] = CONTENT_POLICY
    text = await asyncio.to_thread(to_html, found)
    return Response(text, headers=headers, media_type="text/html")


@router.get("/sources/{n}", response_model=SourceView)
async def source(wired: Wired, caller: Calling, thread_id: ThreadId, n: str) -> Response:
    """The stored text of source `n`, and where each version cites it."""
    await wired.service.commands.thread(caller.name, thread_id)
    run = await wired.service.commands.latest(thread_id)
    state = await wired.service.states.raw(run)
    known = (state.get("sources") or {}).get(n)
    text = await wired.service.library.snapshot(known["key"]) if known is not None else None
    if known is None or text is None:
        raise NotFound("source")
    return Json(
        {
            "n": known["n"],
            "url": known["url"],
            "title": known["title"],
            "kind": known["kind"],
            "date": known["date"],
            "text": text,
            "spans": spans_of(state, known["n"]),
        }
    )
