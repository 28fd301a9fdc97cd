"""Responses: JSON by the encoder that events use, and problems."""

from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from app.api.problems import Problem
from registry.events import encode_json


class Json(Response):
    """Never cached: what it says belongs to one caller at one moment."""

    media_type = "application/json"

    def __init__(
        self, content: Any, status_code: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(content, status_code, {"Cache-Control": "no-store", **(headers or {})})

    def render(self, content: Any) -> bytes:
        return encode_json(content)


class ProblemResponse(Json):
    media_type = "application/problem+json"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.body(), problem.status, dict(problem.headers))


def rfc3339(moment: datetime | None) -> str | None:
    """In UTC, with milliseconds and `Z`."""
    if moment is None:
        return None
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
