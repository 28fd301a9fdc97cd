"""The application: routes, errors and the edge, around a service that is already open."""

from fastapi import FastAPI
from starlette.middleware import Middleware

from app.api import commands, documents, errors, events, operations, reports, threads
from app.api.access import Keys
from app.api.edge import Edge
from app.api.page import page_router
from app.api.shapes import ProblemBody
from app.api.wiring import Wiring
from app.root import Service
from app.stream.streams import Streams

PROBLEM = {
    "default": {
        "description": "A problem (RFC 9457)",
        "content": {"application/problem+json": {"schema": ProblemBody.model_json_schema()}},
    }
}


def create_app(service: Service, streams: Streams) -> FastAPI:
    keys = Keys(service.settings.keys)
    app = FastAPI(
        title="Research service",
        version="0.1.0",
        description="Cited research reports, streamed. Errors are RFC 9457 problems.",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        middleware=[Middleware(Edge, keys=keys, host=service.settings.host)],
    )
    app.state.wiring = Wiring(service, keys, streams)
    errors.install(app)
    for router in (
        threads.router,
        commands.router,
        events.router,
        reports.router,
        documents.router,
        operations.router,
    ):
        app.include_router(router, responses={**PROBLEM})
    app.include_router(page_router())
    return app
