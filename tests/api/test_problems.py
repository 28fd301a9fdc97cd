"""Every domain error has its line in the one table."""

import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest

from app.api.problems import TABLE, describe, problem_of
from graph.errors import AnswerInvalid, StateTooNew
from graph.ports import ModelFailed, SourceFailed
from registry.errors import (
    AlreadyAnswered,
    AnswerNeeded,
    BusDown,
    Draining,
    IdempotencyMismatch,
    LeaseLost,
    NotFound,
    NothingLeft,
    NothingToWrite,
    NotWaiting,
    RegistryError,
    RunActive,
    StartRefused,
    Stopping,
    StoreDown,
    UnknownInterrupt,
)

THREAD = uuid4()
EXAMPLES: dict[type[Exception], tuple[Exception, str, int]] = {
    NotFound: (NotFound("thread"), "not-found", 404),
    RunActive: (RunActive(THREAD), "run-active", 409),
    Stopping: (Stopping(THREAD), "stopping", 409),
    NotWaiting: (NotWaiting(THREAD, "running"), "not-waiting", 409),
    UnknownInterrupt: (UnknownInterrupt("x"), "unknown-interrupt", 409),
    AlreadyAnswered: (AlreadyAnswered("x"), "already-answered", 409),
    BusDown: (BusDown("away"), "store-down", 503),
    AnswerNeeded: (AnswerNeeded(THREAD), "answer-needed", 409),
    NothingLeft: (NothingLeft(THREAD), "nothing-left", 409),
    NothingToWrite: (NothingToWrite(THREAD), "nothing-to-write", 409),
    IdempotencyMismatch: (IdempotencyMismatch("k"), "idempotency-mismatch", 422),
    Draining: (Draining(7), "draining", 503),
    StoreDown: (StoreDown("no route"), "store-down", 503),
    StartRefused: (StartRefused("PORT: in use"), "start-refused", 503),
    LeaseLost: (LeaseLost(), "lease-lost", 503),
    AnswerInvalid: (AnswerInvalid("no"), "validation", 422),
    StateTooNew: (StateTooNew(9, 1), "state-too-new", 409),
    ModelFailed: (ModelFailed({"type": "/problems/model-failed"}), "model-failed", 502),
    SourceFailed: (SourceFailed("gone"), "source-failed", 502),
}


def _all(kind: type[Exception]) -> Iterator[type[Exception]]:
    for child in kind.__subclasses__():
        yield child
        yield from _all(child)


def test_all_errors_of_the_registry_and_the_workflow_map() -> None:
    of_graph = {
        kind
        for kind in vars(sys.modules[AnswerInvalid.__module__]).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    known = {kind for kind in _all(RegistryError) if kind.__module__.startswith("registry.")}
    assert known
    assert of_graph
    assert known | of_graph <= set(TABLE)


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_an_error_becomes_its_problem(kind: type[Exception]) -> None:
    error, slug, status = EXAMPLES[kind]
    body = describe(error)
    assert (body["type"], body["status"]) == (f"/problems/{slug}", status)
    assert body["title"]
    assert body["detail"]
    assert "\n" not in body["detail"]


def test_waits_are_told_in_a_header() -> None:
    assert problem_of(Draining(7)).headers["Retry-After"] == "7"
    assert "Retry-After" in problem_of(StoreDown("x")).headers


def test_what_no_line_knows_is_internal_and_says_nothing_of_its_text() -> None:
    body = describe(ZeroDivisionError("secret words"))
    assert (body["type"], body["status"]) == ("/problems/internal", 500)
    assert "secret" not in str(body)


def test_a_ready_made_problem_keeps_its_own_members() -> None:
    body = describe(
        ModelFailed({"type": "/problems/model-failed", "title": "T", "status": 429, "tries": 3})
    )
    assert body == {
        "type": "/problems/model-failed",
        "title": "T",
        "status": 429,
        "detail": "T",
        "tries": 3,
    }
