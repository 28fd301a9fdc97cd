"""The outermost layer: what nobody expected is one problem, and its words stay here."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.responses import StreamingResponse

from app.api import errors
from app.api.access import Keys
from app.api.edge import Edge
from registry.errors import Draining, StoreDown
from tests.api.reading import is_problem


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI(middleware=[Middleware(Edge, keys=Keys([]), host="127.0.0.1")])
    errors.install(app)

    async def unexpected() -> None:
        raise ZeroDivisionError("what a person typed")

    async def down() -> None:
        raise StoreDown("10.0.0.1 refused")

    async def draining() -> None:
        raise Draining(5)

    async def half() -> StreamingResponse:
        async def body() -> AsyncIterator[bytes]:
            yield b"half"
            raise ZeroDivisionError("later")

        return StreamingResponse(body())

    for route in (unexpected, down, draining, half):
        app.add_api_route(f"/{route.__name__}", route)
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as made:
        yield made


async def test_an_unexpected_error_is_a_problem_without_its_words(
    client: httpx.AsyncClient,
) -> None:
    response = await client.get("/unexpected")
    is_problem(response, 500, "internal")
    assert "typed" not in response.text
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_known_errors_bring_their_headers(client: httpx.AsyncClient) -> None:
    response = await client.get("/down")
    is_problem(response, 503, "store-down")
    assert "10.0.0.1" not in response.text
    response = await client.get("/draining")
    is_problem(response, 503, "draining")
    assert response.headers["retry-after"] == "5"


async def test_a_response_that_has_begun_is_cut_not_continued(client: httpx.AsyncClient) -> None:
    with pytest.raises(ZeroDivisionError):
        await client.get("/half")
