"""Foreign pages stay out: the rules on the Host and Origin headers.

A browser page of another site can reach a loopback address, and by DNS rebinding even
under a name of its own. So on a loopback `HOST` the Host header must be a loopback name;
and an Origin, where a browser sends one, must be the address that is asked.
"""

import ipaddress
from typing import Final

from starlette.datastructures import Headers

from app.api.problems import Problem, forbidden

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def split_authority(text: str) -> tuple[str, int | None] | None:
    """`name[:port]` or `[v6][:port]`, lower case, without brackets; None if malformed."""
    text = text.strip().lower()
    if text.startswith("["):
        name, closed, rest = text[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            return None
        port = rest[1:]
    else:
        name, _, port = text.partition(":")
    if not name or not all(c.isalnum() or c in ".-_:%" for c in name):
        return None
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5):
        return None
    return name, int(port) if port else None


def foreign(headers: Headers, host: str) -> Problem | None:
    """The problem with the request's Host or Origin; None where both are in order.

    `host` is the address the service was told to listen on.
    """
    hosts = headers.getlist("host")
    asked = split_authority(hosts[0]) if len(hosts) == 1 else None
    if asked is None:
        return forbidden("The Host header is missing or malformed.")
    if is_loopback(host) and not is_loopback(asked[0]):
        return forbidden("The Host header names another host; use localhost or 127.0.0.1.")
    origins = headers.getlist("origin")
    if not origins:
        return None
    scheme, separator, authority = origins[0].lower().partition("://")
    origin = split_authority(authority) if separator and scheme in _DEFAULT_PORTS else None
    if len(origins) != 1 or origin is None or not _same(origin, asked, _DEFAULT_PORTS[scheme]):
        return forbidden("Requests from pages of another origin are not accepted.")
    return None


def _same(origin: tuple[str, int | None], asked: tuple[str, int | None], default: int) -> bool:
    # Behind a proxy that ends TLS neither side may carry a port: both mean the scheme's own.
    if (origin[1] or default) != (asked[1] or default):
        return False
    return origin[0] == asked[0] or (is_loopback(origin[0]) and is_loopback(asked[0]))
