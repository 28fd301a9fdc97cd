"""The workflow's state: plain JSON types only, so that any release can read any checkpoint.

`SCHEMA_VERSION` rises with every change that an older checkpoint cannot satisfy.
Page text is never in here: evidence is (source number, start, end).
"""

from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict

SCHEMA_VERSION: Final = 1


class Request(TypedDict):
    """What the reader asked for at the start; the body of `POST /api/threads`, checked."""

    depth: Literal["quick", "standard", "deep"]
    review_plan: bool
    clarify: bool
    web: bool
    documents: bool
    allow_domains: list[str]
    deny_domains: list[str]
    max_tokens: int | None
    max_seconds: int | None


class Step(TypedDict):
    id: str
    title: str
    intent: str
    queries: list[str]
    status: Literal["planned", "searched", "read", "analysed", "gap"]


class Source(TypedDict):
    """`n` is its number in the thread and never changes; `key` its stored snapshot."""

    n: int
    key: str
    url: str
    title: str
    date: str | None
    kind: Literal["web", "document"]


class Span(TypedDict):
    """Evidence of a step: a piece of source `n`, with its rank score."""

    n: int
    start: int
    end: int
    score: float


class Hit(TypedDict):
    """A found passage before it has a source number: a `Passage` without its text."""

    key: str
    start: int
    end: int
    url: str
    title: str
    kind: Literal["web", "document"]
    date: str | None
    score: float


class SearchRecord(TypedDict):
    provider: str
    query: str
    step: str
    hits: int
    failed: str | None


class PageFailure(TypedDict):
    """A page that was found and could not be read."""

    step: str
    url: str
    reason: str


class StepFailure(TypedDict):
    """The model could not analyse this step's evidence."""

    step: str
    reason: str


class Counted(TypedDict):
    """The documents' index when a step searched it; counts of documents."""

    indexed: int
    pending: int
    failed: int


class Citation(TypedDict):
    """`text[start:end] == quote` in source `n`; `number` is what the report prints."""

    number: int
    n: int
    start: int
    end: int
    quote: str


class Mark(TypedDict):
    """Where a finding rests: [start:end] of source `n`."""

    n: int
    start: int
    end: int


class Finding(TypedDict):
    step: str
    text: str
    citations: list[Mark]


class SentenceVerdict(TypedDict):
    """Of the section's markdown [start:end]; removed sentences stand with start == end."""

    start: int
    end: int
    verdict: Literal["kept", "repaired", "removed"]
    reason: NotRequired[str]


class Heading(TypedDict):
    """A section that the version has, written or not; its index is its place in the outline."""

    kind: Literal["summary", "step", "honesty"]
    step: str | None
    title: str


class Section(TypedDict):
    index: int
    kind: Literal["summary", "step", "honesty"]
    title: str
    step: str | None  # the step it reports on; None for summary and honesty sections
    raw: str  # as written, with [S3] marks
    markdown: str  # as shown, with [1] numbers
    citations: list[Citation]
    sentences: list[SentenceVerdict]
    checked: bool  # went through the citation gate


class Requirement(TypedDict):
    """A wish that came later: the body of `modify`, under its id."""

    id: str
    message: str | None
    exclude_sources: list[int]
    include_sources: list[int]
    pin_sources: list[int]
    exclude_domains: list[str]
    status: Literal["accepted", "applied"]


class Report(TypedDict):
    """One finished version. Kept whole, so that an older version stays readable."""

    version: int
    ts: str
    run_id: str
    requirement_id: str | None
    sections_changed: list[int]
    title: str
    language: str
    partial: bool
    sections: list[Section]  # `raw` is empty here: only the latest version is written on
    sources: list[dict[str, Any]]  # {number, n, url, title, date}


class Branch(TypedDict):
    """What one branch of the retrieve fan-out sees: its step and the rules, no research."""

    owner: str
    step: Step
    channel: Literal["documents", "web"]
    request: Request
    deny_domains: list[str]


class Rejected(TypedDict):
    """The gate let too little through; set by verify, acted upon by finish."""

    run_id: str
    survived: int
    total: int


def later(old: str, new: str) -> str:
    """Reducer: the later of two event ids `<epoch>-<seq>`."""
    return max(old or "0-0", new or "0-0", key=lambda c: tuple(int(p) for p in c.split("-")))


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Reducer: a dict updated by key, for branches that run side by side; None drops a key."""
    both = {**(old or {}), **(new or {})}
    return {key: value for key, value in both.items() if value is not None}


def extended(old: list[Any], new: list[Any]) -> list[Any]:
    """Reducer: a list without exact repeats, in order of arrival."""
    out = list(old or [])
    return out + [item for item in (new or []) if item not in out]


def by_step(old: list[Finding], new: list[Finding]) -> list[Finding]:
    """Reducer: findings of a step replace those that it had."""
    steps = {finding["step"] for finding in new or []}
    return [f for f in old or [] if f["step"] not in steps] + list(new or [])


def by_id(old: list[Requirement], new: list[Requirement]) -> list[Requirement]:
    """Reducer: requirements by id; a repeated delivery changes nothing, a later status does."""
    table = {item["id"]: item for item in old or []}
    for item in new or []:
        if table.get(item["id"], item)["status"] != "applied":
            table[item["id"]] = item
    return list(table.values())


class Begun(TypedDict):
    """What `start_input` sets, so that every node finds it."""

    schema_version: int
    thread_id: str
    owner: str
    question: str
    title: str
    language: str
    request: Request
    plan: list[Step]
    approved: bool
    version: int  # the version being written
    sources: Annotated[dict[str, Source], merged]  # by str(n)


class State(Begun, total=False):
    cursor: Annotated[str, later]
    # Before the research
    clarification: dict[str, Any] | None  # {question, options, answer}
    scope: list[Hit] | None  # what a first look found; None until it was taken
    feedback: str | None  # the reader's words for a plan revision, until planned in
    # Research
    found: Annotated[dict[str, list[Hit]], merged]  # by "step/channel", until read
    searches: Annotated[list[SearchRecord], extended]
    page_failures: Annotated[list[PageFailure], extended]
    coverage: Annotated[dict[str, Counted], merged]  # by step id
    evidence: Annotated[dict[str, list[Span]], merged]  # by step id
    findings: Annotated[list[Finding], by_step]
    step_failures: list[StepFailure]
    open_questions: list[str]
    rounds: int  # reflect loops done
    reflected: bool  # nothing more is to be researched
    finish: bool  # the reader asked to write from what there is
    # Writing
    opened_by: str | None  # the requirement that this version answers
    outline: list[Heading]
    sections: Annotated[dict[str, Section], merged]  # by str(index), of the version
    verified: bool
    rejected: Rejected | None
    requirements: Annotated[list[Requirement], by_id]
    excluded: list[int]
    pinned: list[int]
    deny_domains: list[str]
    reports: Annotated[dict[str, Report], merged]  # by str(version)
