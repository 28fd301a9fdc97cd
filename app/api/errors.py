"""Every error of a request becomes a problem; nothing else ever leaves."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.api.json_response import ProblemResponse
from app.api.problems import TABLE, Problem, invalid, method_not_allowed, not_found, problem_of


def install(app: FastAPI) -> None:
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    for kind in TABLE:
        app.add_exception_handler(kind, _known)


async def _known(_request: Request, error: Exception) -> Response:
    return ProblemResponse(problem_of(error))


async def _http(_request: Request, error: Exception) -> Response:
    """What the framework itself raises: an unknown address, a method it does not take."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    headers = dict(error.headers or {})
    if error.status_code == 404:
        return ProblemResponse(not_found())
    if error.status_code == 405:
        return ProblemResponse(method_not_allowed(headers.get("Allow", "")))
    problem = Problem("http", error.status_code, str(error.detail), str(error.detail))
    return ProblemResponse(problem)


async def _validation(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it only
    return ProblemResponse(describe_validation(error.errors()))


def describe_validation(errors: Sequence[Any]) -> Problem:
    """One line for the first fault, and all of them by place. What was sent is not repeated."""
    fields: list[dict[str, Any]] = []
    for item in errors[:20]:
        place = [part for part in item["loc"] if part != "body"]
        message = str(item["msg"]).removeprefix("Value error, ")
        fields.append({"loc": place, "msg": message})
    first = fields[0]
    name = ".".join(str(part) for part in first["loc"])
    return invalid(f"{name}: {first['msg']}" if name else first["msg"], fields=fields)
