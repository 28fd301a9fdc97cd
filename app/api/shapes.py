"""What responses say, for the schema at /openapi.json. Times are RFC 3339 in UTC."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Status = Literal["pending", "running", "waiting", "succeeded", "failed", "cancelled", "interrupted"]


class ProblemBody(BaseModel):
    """RFC 9457; `type` is stable."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str


class Queue(BaseModel):
    position: int  # 1: next
    eta_seconds: float | None


class Started(BaseModel):
    thread_id: str
    run_id: str
    status: Status
    events_url: str
    queue: Queue | None


class Modified(BaseModel):
    thread_id: str
    requirement_id: str
    status: Literal["queued"]
    run_id: str | None
    events_url: str


class Stopped(BaseModel):
    thread_id: str
    run_id: str
    status: Status
    stopping: bool


class Summary(BaseModel):
    thread_id: str
    run_id: str
    question: str
    title: str
    status: Status
    created_at: str
    started_at: str | None
    ended_at: str | None


class History(BaseModel):
    threads: list[Summary]
    next: str | None


class RunView(BaseModel):
    run_id: str
    kind: Literal["start", "continue", "answer", "modify", "job"]
    status: Status
    priority: str
    attempt: int
    worker_id: str | None
    problem: ProblemBody | None
    created_at: str
    started_at: str | None
    ended_at: str | None


class InterruptView(BaseModel):
    id: str
    kind: str
    payload: dict[str, Any]


class StateView(BaseModel):
    thread_id: str
    question: str
    title: str
    status: Status
    stopping: bool
    run: RunView
    next: list[str]
    interrupts: list[InterruptView]
    interrupted_by_restart: bool
    cursor: str
    queue: Queue | None
    values: dict[str, Any]
    usage: dict[str, Any] | None
    created_at: str
    started_at: str | None
    ended_at: str | None


class Span(BaseModel):
    """Where a version cites the source; offsets are code points of `text`."""

    start: int
    end: int
    quote: str
    version: int
    section: int


class SourceView(BaseModel):
    n: int
    url: str
    title: str
    kind: Literal["web", "document"]
    date: str | None
    text: str
    spans: list[Span]
