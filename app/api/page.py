"""The page and its files, from what the frontend's build left in `frontend/dist`."""

from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.responses import FileResponse, HTMLResponse, Response

from app.api.json_response import ProblemResponse
from app.api.problems import not_found
from app.settings import PROJECT

DIST: Final = PROJECT / "frontend" / "dist"
# The build names each asset after its content, so one that is cached is never wrong.
FOREVER: Final = {"Cache-Control": "public, max-age=31536000, immutable"}
ASK_FIRST: Final = {"Cache-Control": "no-cache"}
POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}
MISSING: Final = "The page has not been built: run `make run`, or `npm run build` in frontend/.\n"


def page_router(dist: Path = DIST) -> APIRouter:
    """Routes on a folder; looked up at each request, so a later build needs no restart."""
    router = APIRouter(include_in_schema=False)

    def page() -> Response:
        index = dist / "index.html"
        if not index.is_file():
            return HTMLResponse(MISSING, 503, {"Content-Type": "text/plain; charset=utf-8"})
        return FileResponse(index, headers={**ASK_FIRST, **POLICY}, media_type="text/html")

    def thread_page(thread_id: str) -> Response:
        del thread_id  # the page reads it from its own address
        return page()

    def asset(path: str) -> Response:
        return _file(dist / "assets", path, FOREVER)

    def other(name: str) -> Response:
        return _file(dist, name, ASK_FIRST)

    for path, endpoint in (
        ("/", page),
        ("/admin", page),
        ("/t/{thread_id}", thread_page),
        ("/assets/{path:path}", asset),
        ("/{name}", other),
    ):
        router.add_api_route(path, endpoint, methods=["GET", "HEAD"], response_class=Response)
    return router


def _file(folder: Path, name: str, headers: dict[str, str]) -> Response:
    """A file below the folder, links followed; all else is a 404."""
    try:
        found = (folder / name).resolve()
        if found.is_file() and found.is_relative_to(folder.resolve()):
            return FileResponse(found, headers=headers)
    except (OSError, ValueError):  # a name too long, or with a NUL in it
        pass
    return ProblemResponse(not_found())
