"""Errors of the workflow. They carry what a person can act upon, never a traceback."""

from collections.abc import Mapping
from typing import Any


class AnswerInvalid(Exception):
    """The answer does not have the shape its interrupt asks for; `reason` is one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class WorkflowFailed(Exception):
    """The research cannot give an honest report; `problem` is an RFC 9457 body."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title")))
        self.problem = dict(problem)


class StateTooNew(Exception):
    """A checkpoint was written by a newer release than this one."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"This thread was written by a newer release (state version {found}, this release"
            f" knows {known}): update this worker to go on with it."
        )
        self.found = found
        self.known = known


def unsupported_report(survived: int, total: int) -> WorkflowFailed:
    """Too little of what was written is backed by its sources."""
    return WorkflowFailed(
        {
            "type": "/problems/unsupported-report",
            "title": "The report is not backed by its sources",
            "status": 502,
            "detail": (
                f"Only {survived} of {total} sentences could be traced to a source, so no report"
                " was published. Resume to check it again, or ask anew, with another model if"
                " this repeats."
            ),
        }
    )


def analysis_failed(reason: str) -> WorkflowFailed:
    """The model could not analyse a single step."""
    return WorkflowFailed(
        {
            "type": "/problems/model-failed",
            "title": "The model could not analyse the evidence",
            "status": 502,
            "detail": f"Every step failed. The last reason: {reason} Resume to try again.",
        }
    )
