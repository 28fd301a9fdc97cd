"""`GET /api/documents`: what the caller may search, with what went wrong in reading it."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.inputs import Calling, Wired
from app.api.json_response import Json

router = APIRouter(prefix="/api/documents", tags=["documents"])


@router.get("")
async def listing(wired: Wired, caller: Calling) -> Response:
    return Json({"documents": await wired.service.library.listing(owner=caller.name)})
