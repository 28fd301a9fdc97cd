"""What routes take from a request, as annotated dependencies."""

import hashlib
import re
from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Header, Path, Request
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from app.api.access import Caller
from app.api.problems import Refused, forbidden, invalid
from app.api.wiring import Wiring
from registry.errors import NotFound
from registry.events import encode_json
from registry.idempotency import IdempotencyKey

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_KEY_CHARS: Final = 255

# Only for the schema: the edge has checked the key before any route is reached.
_bearer = HTTPBearer(auto_error=False, description="A secret of API_KEYS; none are set: not needed")


def _wiring(request: Request) -> Wiring:
    return request.app.state.wiring


def _caller(request: Request, _key: Annotated[object, Depends(_bearer)]) -> Caller:
    return request.state.caller


def _admin(caller: Annotated[Caller, Depends(_caller)]) -> Caller:
    if not caller.admin:
        raise Refused(forbidden("This needs a key with :admin."))
    return caller


def as_uuid(text: str, what: str) -> UUID:
    """A malformed id is one that does not exist."""
    if not _UUID.fullmatch(text):
        raise NotFound(what)
    return UUID(text)


def _thread_id(thread_id: Annotated[str, Path(description="Id of a thread")]) -> UUID:
    return as_uuid(thread_id, "thread")


Wired = Annotated[Wiring, Depends(_wiring)]
Calling = Annotated[Caller, Depends(_caller)]
Admin = Annotated[Caller, Depends(_admin)]
ThreadId = Annotated[UUID, Depends(_thread_id)]


class KeyHeader:
    """The Idempotency-Key of a request, bound to what the request asks for."""

    def __init__(self, request: Request, value: str | None) -> None:
        self._request = request
        self._value = value

    def of(self, body: BaseModel) -> IdempotencyKey | None:
        if self._value is None:
            return None
        head = f"{self._request.method} {self._request.url.path}\n".encode()
        return IdempotencyKey(
            self._value, hashlib.sha256(head + encode_json(body.model_dump())).digest()
        )


def _key_header(
    request: Request,
    idempotency_key: Annotated[
        str | None, Header(description="At most 255 ASCII characters; the same start for 24 h")
    ] = None,
) -> KeyHeader:
    given = request.headers.getlist("idempotency-key")
    if len(given) > 1:
        raise Refused(invalid("Idempotency-Key: send it once."))
    if idempotency_key is None:
        return KeyHeader(request, None)
    printable = idempotency_key.isascii() and idempotency_key.isprintable()
    if not printable or not 1 <= len(idempotency_key) <= _KEY_CHARS:
        raise Refused(invalid(f"Idempotency-Key: 1 to {_KEY_CHARS} ASCII characters."))
    return KeyHeader(request, idempotency_key)


Key = Annotated[KeyHeader, Depends(_key_header)]
