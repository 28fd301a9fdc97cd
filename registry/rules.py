"""Which command a thread takes in which status: the contract's table, as functions.

Each raises the domain error of its cell, or returns.
"""

from registry.errors import (
    AlreadyAnswered,
    AnswerNeeded,
    NothingLeft,
    NothingToWrite,
    NotWaiting,
    RunActive,
    Stopping,
    UnknownInterrupt,
)
from registry.run import ACTIVE, CancelMode, Run, Status


def may_answer(run: Run, interrupt_id: str, *, answered: bool) -> None:
    """Only a waiting thread takes an answer, only to an interrupt it waits on, only once.

    It may wait again on an interrupt whose answer was lost with a cancelled run; then it
    takes another.
    """
    if run.stopping:
        raise Stopping(run.thread_id)
    if run.status is Status.WAITING and interrupt_id in {item.id for item in run.interrupts}:
        return
    if answered:
        raise AlreadyAnswered(interrupt_id)
    if run.status is not Status.WAITING:
        raise NotWaiting(run.thread_id, str(run.status))
    raise UnknownInterrupt(interrupt_id)


def may_resume(run: Run) -> None:
    if run.stopping:
        raise Stopping(run.thread_id)
    if run.status in ACTIVE:
        raise RunActive(run.thread_id, run.run_id)
    if run.status is Status.WAITING:
        raise AnswerNeeded(run.thread_id)
    if run.status is Status.SUCCEEDED:
        raise NothingLeft(run.thread_id)


def may_modify(run: Run) -> None:
    if run.stopping:
        raise Stopping(run.thread_id)


def starts_modify_run(run: Run) -> bool:
    """Ended and not waiting: the requirement needs a run of its own."""
    return run.status not in ACTIVE and run.status is not Status.WAITING


def may_cancel(run: Run, mode: CancelMode) -> None:
    """A stop is always allowed. A finish writes from what there is, which comes with the
    workflow's own way to end early; until then it finds nothing to write."""
    if mode == "stop" or run.status is Status.SUCCEEDED:
        return
    if run.stopping:
        raise Stopping(run.thread_id)
    raise NothingToWrite(run.thread_id)
