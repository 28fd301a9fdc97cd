"""The one table from what went wrong to an RFC 9457 problem.

A problem's `type` is stable and starts with `/problems/`; `detail` is one line for the
person who can act on it. The same object goes over HTTP and into `run.failed` events.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from graph.errors import AnswerInvalid, StateTooNew, WorkflowFailed
from graph.ports import ModelFailed, SourceFailed
from registry import errors


@dataclass(frozen=True, slots=True)
class Problem:
    """`extra` members stand beside the standard ones; `headers` go with it over HTTP."""

    slug: str
    status: int
    title: str
    detail: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def body(self) -> dict[str, Any]:
        return {
            "type": f"/problems/{self.slug}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **self.extra,
        }


class Refused(Exception):
    """The edge turns a request away; it carries the whole problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def invalid(detail: str, *, fields: list[dict[str, Any]] | None = None) -> Problem:
    """422; `fields` lists `{loc, msg}` where single fields are to blame."""
    extra = {"errors": fields} if fields else {}
    return Problem("validation", 422, "The request is not valid", detail, extra)


def not_found(what: str = "page") -> Problem:
    return Problem("not-found", 404, "Not found", f"There is no such {what}.")


def unauthorized() -> Problem:
    detail = "Send a valid key: Authorization: Bearer SECRET."
    challenge = {"WWW-Authenticate": 'Bearer realm="research"'}
    return Problem("unauthorized", 401, "A key is needed", detail, headers=challenge)


def forbidden(detail: str) -> Problem:
    return Problem("forbidden", 403, "Not allowed", detail)


def too_large(limit: int) -> Problem:
    detail = f"The body is larger than {limit:,} bytes, which is the most this call takes."
    # No `Connection: close`: closing on a sender who is still sending would reset the
    # connection, and the answer would be lost. The server drops what still comes.
    return Problem("too-large", 413, "The body is too large", detail)


def unsupported_type(detail: str) -> Problem:
    return Problem("unsupported-type", 415, "This media type is not supported", detail)


def timed_out(detail: str) -> Problem:
    return Problem("timeout", 408, "The request took too long", detail, {}, {"Connection": "close"})


def method_not_allowed(allow: str) -> Problem:
    detail = f"This address takes {allow}." if allow else "This address does not take that method."
    headers = {"Allow": allow} if allow else {}
    return Problem("method-not-allowed", 405, "Method not allowed", detail, {}, headers)


def internal(error: BaseException) -> Problem:
    detail = f"An unexpected error ({type(error).__name__}); the server's log says more."
    return Problem("internal", 500, "Something went wrong here", detail)


def not_ready(reason: str, *, draining: bool) -> Problem:
    slug = "draining" if draining else "store-down"
    detail = f"Not able to take work: {reason}."
    return Problem(slug, 503, "Not ready", detail, {}, {"Retry-After": "5"})


def _conflict(slug: str, title: str, detail: str) -> Callable[[Any], Problem]:
    return lambda _error: Problem(slug, 409, title, detail)


def _draining(error: errors.Draining) -> Problem:
    wait = {"Retry-After": str(error.retry_after)}
    detail = "This worker is shutting down; try again in a moment."
    return Problem("draining", 503, "Shutting down", detail, {}, wait)


def _store_down(_error: errors.StoreDown) -> Problem:
    detail = "The database cannot be reached now; try again in a moment."
    return Problem("store-down", 503, "The database is down", detail, {}, {"Retry-After": "5"})


def _bus_down(_error: errors.BusDown) -> Problem:
    detail = "Redis cannot be reached now; try again in a moment."
    return Problem("store-down", 503, "Redis is down", detail, {}, {"Retry-After": "5"})


def _lease_lost(_error: errors.LeaseLost) -> Problem:
    detail = "Another worker has taken over this run; read its state again."
    return Problem("lease-lost", 503, "The run has moved", detail, {}, {"Retry-After": "1"})


def _mismatch(_error: errors.IdempotencyMismatch) -> Problem:
    detail = "This Idempotency-Key came before with another request; use a new key."
    return Problem("idempotency-mismatch", 422, "The key belongs to another request", detail)


def _ready_made(error: ModelFailed | WorkflowFailed) -> Problem:
    """These errors carry their body; what is missing in it is filled in."""
    body = dict(error.problem)
    slug = str(body.pop("type", "model-failed")).removeprefix("/problems/")
    title = str(body.pop("title", "The model could not answer"))
    status, detail = body.pop("status", None), body.pop("detail", None)
    code = status if isinstance(status, int) else 502
    return Problem(slug, code, title, str(detail or title), body)


# Every domain error has its line here; a test walks the classes.
TABLE: Final[Mapping[type[Any], Callable[[Any], Problem]]] = {
    Refused: lambda error: error.problem,
    errors.NotFound: lambda error: not_found(error.what),
    errors.RunActive: _conflict(
        "run-active", "A run is active", "This thread already has a run; stop it or wait."
    ),
    errors.Stopping: _conflict(
        "stopping", "The run is being stopped", "Wait until it has stopped, then try again."
    ),
    errors.NotWaiting: lambda error: Problem(
        "not-waiting",
        409,
        "Nothing waits for an answer",
        f"This thread is {error.status}; it does not wait for an answer.",
    ),
    errors.UnknownInterrupt: _conflict(
        "unknown-interrupt",
        "The thread waits on something else",
        "It does not wait on this interrupt_id; read its state for the ones it waits on.",
    ),
    errors.AlreadyAnswered: _conflict(
        "already-answered", "Already answered", "This question got its answer before."
    ),
    errors.AnswerNeeded: _conflict(
        "answer-needed", "An answer is needed", "The thread waits for an answer: POST it to answer."
    ),
    errors.NothingLeft: _conflict(
        "nothing-left", "Nothing is left to do", "The run has finished; there is nothing to resume."
    ),
    errors.NothingToWrite: _conflict(
        "nothing-to-write",
        "There is nothing to write from",
        "No evidence has been found yet, so no report can be written.",
    ),
    errors.IdempotencyMismatch: _mismatch,
    errors.Draining: _draining,
    errors.StoreDown: _store_down,
    errors.BusDown: _bus_down,
    errors.LeaseLost: _lease_lost,
    errors.StartRefused: lambda error: Problem(
        "start-refused", 503, "The service cannot start", error.reason
    ),
    AnswerInvalid: lambda error: invalid(error.reason),
    StateTooNew: lambda error: Problem(
        "state-too-new", 409, "A newer release wrote this thread", str(error)
    ),
    ModelFailed: _ready_made,
    WorkflowFailed: _ready_made,
    SourceFailed: lambda error: Problem(
        "source-failed", 502, "A page could not be read", error.reason
    ),
}


def problem_of(error: BaseException) -> Problem:
    """The problem for any error; what no line of the table knows is `internal`.

    A task group's failure is the first of what failed in it.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    for kind in type(error).__mro__:
        make = TABLE.get(kind)
        if make is not None:
            return make(cast("Any", error))
    return internal(error)


def describe(error: BaseException) -> dict[str, Any]:
    """The body alone, as `run.failed` carries it."""
    return problem_of(error).body()
