"""JSON bodies, read with a cap and cleaned before anything looks at them.

A lone surrogate or a NUL in a string becomes U+FFFD; a body that is not JSON, too large or
too slow is a problem, never a traceback.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, Final, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

from app.api.problems import Refused, invalid, timed_out, too_large, unsupported_type
from registry.events import scrub

BODY_LIMIT: Final = 1024 * 1024
READ_SECONDS: Final = 30


async def read_body(request: Request, limit: int = BODY_LIMIT) -> bytes:
    """All of the body, at most `limit` bytes of it, whatever Content-Length claims."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise Refused(too_large(limit))
    body = bytearray()
    try:
        async with asyncio.timeout(READ_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise Refused(too_large(limit))
    except TimeoutError:
        detail = f"The body did not arrive within {READ_SECONDS} s."
        raise Refused(timed_out(detail)) from None
    return bytes(body)


def parse_json(body: bytes) -> Any:
    """The value, cleaned. Raises `Refused` with one line that says what is wrong."""
    try:
        # Half of a surrogate pair written out in bytes is as harmless as its escape.
        text = body.decode("utf-8", "surrogatepass").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Refused(invalid(f"The body is not UTF-8 at byte {error.start}.")) from None
    try:
        return scrub(json.loads(text, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Refused(invalid(f"The body is not JSON: {error.msg} at {where}.")) from None
    except RecursionError:
        raise Refused(invalid("The body is nested too deeply.")) from None
    except ValueError as error:  # NaN, or a number of thousands of digits
        raise Refused(invalid(f"The body is not JSON: {error}.")) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (
        kind.startswith("application/") and kind.endswith("+json")
    )


class JsonRoute(APIRoute):
    """A route whose body is read by `read_body` and `parse_json`; no body at all is `{}`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def with_clean_body(request: Request) -> Response:
            body = await read_body(request)
            if body and not _is_json(request.headers.get("content-type", "")):
                raise Refused(unsupported_type("Send the body as Content-Type: application/json."))
            return await handle(_Parsed(request, parse_json(body) if body.strip() else {}))

        return with_clean_body


class _Parsed(Request):
    """The same request with its body already parsed."""

    def __init__(self, request: Request, value: Any) -> None:
        headers = [pair for pair in request.scope["headers"] if pair[0] != b"content-type"]
        headers.append((b"content-type", b"application/json"))
        super().__init__({**request.scope, "headers": headers}, request.receive)
        self._value = value

    async def body(self) -> bytes:
        return b"{}"  # only asked whether there is one

    async def json(self) -> Any:
        return self._value
