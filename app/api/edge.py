"""The outermost layer: foreign requests out, keys checked, nothing unexpected gets through.

It is plain ASGI, so that streams pass it untouched.
"""

import time

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.access import Keys
from app.api.json_response import ProblemResponse
from app.api.origin import foreign
from app.api.problems import Problem, internal, unauthorized

log = structlog.get_logger()


class Edge:
    """Sets `scope["state"]["caller"]` for everything under `/api`, and for `/metrics`."""

    def __init__(self, app: ASGIApp, *, keys: Keys, host: str) -> None:
        self._app = app
        self._keys = keys
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                MutableHeaders(scope=message).setdefault("X-Content-Type-Options", "nosniff")
            await send(message)

        problem = self._refusal(scope)
        try:
            if problem is not None:
                await ProblemResponse(problem)(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        except Exception as error:
            log.exception("request_failed", method=scope["method"], route=_route(scope))
            if status:  # half a response is out: the connection is all that can be closed
                raise
            await ProblemResponse(internal(error))(scope, receive, sending)
        finally:
            level = "debug" if scope["method"] in ("GET", "HEAD") and status < 500 else "info"
            ms = round((time.perf_counter() - started) * 1000, 1)
            # The route's pattern, never the address: that may hold what a person typed.
            getattr(log, level)(
                "request", method=scope["method"], route=_route(scope), status=status, ms=ms
            )

    def _refusal(self, scope: Scope) -> Problem | None:
        headers, path = Headers(scope=scope), str(scope["path"])
        if path in ("/healthz", "/readyz"):  # probes come by address and without a key
            return None
        problem = foreign(headers, self._host)
        if problem is not None:
            return problem
        if path.startswith("/api/") or path in ("/api", "/metrics"):
            caller = self._keys.caller(headers)
            if caller is None:
                return unauthorized()
            scope.setdefault("state", {})["caller"] = caller
        return None


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path", "-"))
