"""One version of a thread's report, in the contract's JSON shape; the other formats start
from it."""

from collections.abc import Mapping
from typing import Any

from graph.values import report

Report = Mapping[str, Any]


def pick(state: Mapping[str, Any], version: int | None) -> Report | None:
    """That version, or the newest; None where there is none. Sections as in their event."""
    found = report(state, version)
    if found is None:
        return None
    number = found["version"]
    return {**found, "sections": [{"version": number, **item} for item in found["sections"]]}
