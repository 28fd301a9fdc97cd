"""Wishes that come after the start: how they enter the state and which still wait."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from graph.state import Requirement
from graph.text.clean import scrub

AMEND: Final = "amend"  # the node that applies them; `goto` on a finished thread


def requirement_update(bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The state update for `Command(update=...)`. Each body is the one of `modify`, checked,
    with its `id` added; delivering one twice changes nothing."""
    return {"requirements": [_accepted(body) for body in bodies]}


def finish_update() -> dict[str, Any]:
    """The state update that ends the research and writes from what there is."""
    return {"finish": True}


def unapplied(state: Mapping[str, Any]) -> list[str]:
    """Ids of requirements that no node has applied yet, oldest first."""
    return [item["id"] for item in waiting(state)]


def waiting(state: Mapping[str, Any]) -> list[Requirement]:
    return [item for item in state.get("requirements", ()) if item["status"] == "accepted"]


def messages(state: Mapping[str, Any]) -> tuple[str, ...]:
    """The reader's later wishes in words, oldest first."""
    return tuple(item["message"] for item in state.get("requirements", ()) if item["message"])


def host_matches(url: str, domains: Sequence[str]) -> bool:
    """Whether the url's host is one of the domains, or below one. Never so for documents."""
    if "://" not in url:
        return False
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    return any(host == d or host.endswith("." + d) for d in map(_domain, domains) if d)


def allowed(url: str, allow: Sequence[str], deny: Sequence[str]) -> bool:
    """Whether an address may be used under the reader's domain lists. Documents always may."""
    if allow and "://" in url and not host_matches(url, allow):
        return False
    return not host_matches(url, deny)


def _domain(text: str) -> str:
    bare = text.strip().lower().rstrip(".")
    if "://" in bare:
        bare = bare.split("://", 1)[1]
    return bare.split("/", 1)[0].removeprefix("*.").removeprefix("www.").split(":")[0]


def _accepted(body: Mapping[str, Any]) -> Requirement:
    message = scrub(str(body.get("message") or "")).strip()
    return Requirement(
        id=str(body["id"]),
        message=message or None,
        exclude_sources=[int(n) for n in body.get("exclude_sources") or ()],
        include_sources=[int(n) for n in body.get("include_sources") or ()],
        pin_sources=[int(n) for n in body.get("pin_sources") or ()],
        exclude_domains=[scrub(str(d)) for d in body.get("exclude_domains") or ()],
        status="accepted",
    )
