"""One version of a report, as it is kept in the workflow's state, and as JSON."""

from collections.abc import Mapping
from typing import Any, Final

SECTION_FIELDS: Final = ("index", "title", "markdown", "citations", "sentences")
SOURCE_FIELDS: Final = ("number", "n", "url", "title", "date")

Report = Mapping[str, Any]


def pick(state: Mapping[str, Any], version: int | None) -> Report | None:
    """That version of a thread's reports, or the newest; None where there is none."""
    reports: Mapping[str, Report] = state.get("reports") or {}
    if version is not None:
        return reports.get(str(version))
    return max(reports.values(), key=lambda report: report["version"], default=None)


def to_json(report: Report) -> dict[str, Any]:
    """The contract's shape; sections are as in the `section` event."""
    version = report["version"]
    return {
        "version": version,
        "title": report["title"],
        "language": report["language"],
        "partial": report["partial"],
        "sections": [
            {"version": version, **{name: section[name] for name in SECTION_FIELDS}}
            for section in report["sections"]
        ],
        "sources": [
            {name: source.get(name) for name in SOURCE_FIELDS} for source in report["sources"]
        ],
    }
