"""Names of the events that nodes emit; a closed list (shapes: the contract's event table)."""

from typing import Final

RESEARCH_EVENTS: Final = frozenset(
    {
        "node.started",
        "node.finished",
        "plan",
        "search",
        "search.failed",
        "source",
        "source.failed",
        "finding",
        "section.started",
        "token",
        "section",
        "verdict",
        "report",
        "requirement",
        "retry",
        "usage",
    }
)
