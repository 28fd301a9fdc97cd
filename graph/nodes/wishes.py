"""What requirements do to the reader's lists, and the event that says they were applied."""

from collections.abc import Sequence
from typing import Any

from graph.context import Context
from graph.requirements import host_matches
from graph.state import Requirement, State


def apply_lists(state: State, wishes: Sequence[Requirement]) -> dict[str, Any]:
    """`excluded`, `pinned`, `deny_domains` after these wishes, in their order: the last word
    on a source counts. A denied domain excludes the sources known from it."""
    excluded = set(state.get("excluded", ()))
    pinned = set(state.get("pinned", ()))
    denied = list(state.get("deny_domains", ()))
    known = {source["n"]: source for source in state.get("sources", {}).values()}
    for wish in wishes:
        out = set(wish["exclude_sources"])
        out |= {n for n, s in known.items() if host_matches(s["url"], wish["exclude_domains"])}
        back = set(wish["include_sources"])
        first = set(wish["pin_sources"])
        excluded = (excluded | (out & known.keys())) - back - first
        pinned = (pinned | (first & known.keys())) - out
        denied += [d for d in wish["exclude_domains"] if d not in denied]
    return {
        "excluded": sorted(excluded),
        "pinned": sorted(pinned),
        "deny_domains": denied,
    }


def announce_applied(
    ctx: Context, wish: Requirement, node: str, *, version: int, sections: Sequence[int]
) -> None:
    """The `requirement` event: applied by `node`, seen in these sections of `version`."""
    ctx.sink.emit(
        "requirement",
        {
            "id": wish["id"],
            "status": "applied",
            "node": node,
            "version": version,
            "sections": list(sections),
        },
    )
