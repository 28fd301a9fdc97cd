"""Domain errors. They carry data, never an HTTP status; `app/api/problems.py` maps them."""

from dataclasses import dataclass
from uuid import UUID


class RegistryError(Exception):
    """Base of all errors a caller of the registry can act upon."""


@dataclass
class NotFound(RegistryError):
    """No such thing for this owner; also what belongs to somebody else."""

    what: str


@dataclass
class RunActive(RegistryError):
    """The thread already has a run that is pending or running."""

    thread_id: UUID
    run_id: UUID | None = None


@dataclass
class Stopping(RegistryError):
    """The active run has a cancel intent; what was asked must wait for its end."""

    thread_id: UUID


@dataclass
class NotWaiting(RegistryError):
    """An answer came to a thread that waits for none."""

    thread_id: UUID
    status: str


@dataclass
class UnknownInterrupt(RegistryError):
    """The interrupt id is not one the thread waits on."""

    interrupt_id: str


@dataclass
class AlreadyAnswered(RegistryError):
    """This interrupt got its answer before."""

    interrupt_id: str


@dataclass
class AnswerNeeded(RegistryError):
    """The thread waits on an interrupt; only an answer moves it."""

    thread_id: UUID


@dataclass
class NothingLeft(RegistryError):
    """The latest run succeeded: there is nothing to resume."""

    thread_id: UUID


@dataclass
class NothingToWrite(RegistryError):
    """A finish was asked for, but there is no evidence to write from yet."""

    thread_id: UUID


@dataclass
class IdempotencyMismatch(RegistryError):
    """The same Idempotency-Key came with another body."""

    key: str


@dataclass
class Draining(RegistryError):
    """This worker takes no new work; `retry_after` in seconds."""

    retry_after: int


@dataclass
class StoreDown(RegistryError):
    """The database cannot be reached now."""

    reason: str


@dataclass
class BusDown(RegistryError):
    """Redis cannot be reached now, or does not answer: hints and live events of other workers
    come later. Nothing is lost with it."""

    reason: str


@dataclass
class StartRefused(RegistryError):
    """The process cannot start; `reason` is one line: what, why, what to do."""

    reason: str

    def __str__(self) -> str:
        return self.reason


class LeaseLost(RegistryError):
    """Another worker holds a newer epoch of this thread: stop, write nothing."""
