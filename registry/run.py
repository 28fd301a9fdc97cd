"""The nouns of the run lifecycle: `Run`, `Interrupt`, `Outcome`, `Body`."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal, Protocol
from uuid import UUID

from registry.events import EventId


class Status(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


ACTIVE: Final = frozenset({Status.PENDING, Status.RUNNING})
ENDED: Final = frozenset(Status) - ACTIVE

Kind = Literal["start", "continue", "answer", "modify", "job"]
CancelMode = Literal["stop", "finish"]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """What a thread waits on. `id` is the workflow's own id for it."""

    id: str
    kind: str
    payload: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.kind, "payload": dict(self.payload)}


@dataclass(frozen=True, slots=True)
class Run:
    """One execution on a thread, as the row said when it was read."""

    run_id: UUID
    thread_id: UUID
    owner: str
    kind: Kind
    status: Status
    input: Mapping[str, Any]
    priority: str
    attempt: int
    epoch: int
    first_epoch: int  # of its first event
    worker_id: str | None
    cancel_mode: CancelMode | None
    cancel_by: str | None
    interrupts: tuple[Interrupt, ...]
    problem: Mapping[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None

    @property
    def stopping(self) -> bool:
        return self.status is Status.RUNNING and self.cancel_mode == "stop"


@dataclass(frozen=True, slots=True)
class Thread:
    """A research conversation. `input` is what its start asked for."""

    thread_id: UUID
    owner: str
    title: str
    question: str
    input: Mapping[str, Any]
    epoch: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a body ended by itself. Cancels are not outcomes: the body lets them through.

    `handed_back`: the body stopped at a step boundary because a drain asked it to.
    """

    status: Literal["succeeded", "waiting", "failed", "handed_back"]
    interrupts: tuple[Interrupt, ...] = ()
    problem: Mapping[str, Any] | None = None
    title: str | None = None  # a better title for the thread, where the work found one
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Emit(Protocol):
    """A running body's way out. Calls never block; their order is the events' order."""

    def __call__(self, name: str, data: Mapping[str, Any]) -> EventId: ...

    @property
    def cursor(self) -> EventId:
        """Id of the last event of this run."""
        ...

    @property
    def counters(self) -> dict[str, float]:
        """Sums that the body keeps; stored with the run's end, however it ends."""
        ...

    def on_request(self, callback: Callable[[str], None]) -> None:
        """Registers what to call with a reason (`modify`, `shutdown`) to ask the body to
        come to a step boundary. Called at once if a request is already there."""
        ...

    def answered(self) -> None:
        """The body has come to the boundary that a `modify` asked for."""
        ...


Body = Callable[[Run, Emit], Awaitable[Outcome]]
