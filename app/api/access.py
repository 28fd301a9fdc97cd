"""Who calls: one of the keys of `API_KEYS`, or the one local user where there are none."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers

from app.settings import Key

PRIORITIES: Final = ("low", "default", "high")


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` is the owner of all the caller makes; `priority` the highest it may ask for."""

    name: str
    admin: bool
    priority: str

    def cap(self, asked: str) -> str:
        """The priority asked for, or the caller's own where that is lower."""
        return min(asked, self.priority, key=PRIORITIES.index)


LOCAL: Final = Caller("local", admin=True, priority="high")


class Keys:
    """Finds the caller of a request. Every key is compared, in constant time, on hashes of
    one length, so that neither the time nor the order tells how near a guess came."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self._callers = [
            (_digest(key.secret), Caller(key.name, key.admin, key.priority)) for key in keys
        ]

    @property
    def open(self) -> bool:
        """No keys are set: everyone is the local user."""
        return not self._callers

    def caller(self, headers: Headers) -> Caller | None:
        """None where keys are set and the request brings none of them."""
        if not self._callers:
            return LOCAL
        given = headers.getlist("authorization")
        if len(given) != 1:
            return None
        scheme, _, token = given[0].partition(" ")
        if scheme.lower() != "bearer":
            return None
        digest, found = _digest(token.strip()), None
        for secret, caller in self._callers:
            if hmac.compare_digest(secret, digest):
                found = caller
        return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()
