"""What the workflow needs from the outside, as protocols. `app/` implements them.

Offsets are Unicode code points into a stored snapshot's text; a `Ref` is the only way the
workflow's state points at text, so a checkpoint holds ids and numbers, never pages.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

SourceKind = Literal["web", "document"]


@dataclass(frozen=True, slots=True)
class Ref:
    """A span of a stored snapshot: `snapshot.text[start:end]`."""

    key: str  # id of the stored snapshot
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """One ranked piece of a source; `text` is exactly the snapshot's [start:end]."""

    ref: Ref
    text: str
    url: str  # address a reader can open; `document:NAME` for a local file
    title: str
    kind: SourceKind
    date: str | None  # ISO date, where the source gives one
    score: float
    heading: str = ""  # the one it stands under, where known


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the documents the index holds now; counts of documents."""

    indexed: int
    pending: int
    failed: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits of one web search, or the reason why there are none."""

    provider: str
    hits: Sequence["WebHit"]
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class WebHit:
    url: str
    title: str
    snippet: str
    date: str | None = None


class Library(Protocol):
    """Documents the asking user may see, and all stored snapshots."""

    async def search(self, query: str, *, owner: str, limit: int) -> Sequence[Passage]:
        """The best passages for `query`, best first; at most `limit`."""
        ...

    async def read(self, refs: Sequence[Ref]) -> Sequence[str]:
        """The text of each span, in the order asked; "" where a snapshot is gone."""
        ...

    async def keep(self, thread_id: str, keys: Sequence[str]) -> None:
        """Keeps these snapshots for as long as the thread lives. Idempotent."""
        ...

    async def coverage(self, *, owner: str) -> Coverage: ...


class Web(Protocol):
    """Search and reading of the web. With no provider, `search` says so in `failed`."""

    async def search(self, query: str, *, limit: int) -> SearchResult: ...

    async def fetch(self, hit: WebHit) -> Sequence[Passage]:
        """Reads a page, stores its snapshot, returns its passages. Raises `SourceFailed`."""
        ...


class SourceFailed(Exception):
    """A page could not be read; `reason` is one line for the reader."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Sink(Protocol):
    """Where nodes put events. Never blocks; order of calls is order of events."""

    def emit(self, event: str, data: Mapping[str, Any]) -> None: ...

    def cursor(self) -> str:
        """Id of the last event emitted on this thread, `<epoch>-<seq>`."""
        ...


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call."""

    input_tokens: int
    output_tokens: int
    estimated: bool


class ChatModel(Protocol):
    """The model as the reasoner sees it. Raises `ModelFailed` when it cannot answer."""

    def stream(self, system: str, user: str, *, node: str) -> AsyncIterator[str]:
        """Cleaned text as it comes (no `<think>` blocks, no NUL, no lone surrogates)."""
        ...

    async def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, node: str
    ) -> Mapping[str, Any] | None:
        """An instance of the JSON schema, or None when no rung of the ladder gave one."""
        ...


class ModelFailed(Exception):
    """A model call failed for good; `problem` is an RFC 9457 body for the reader."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title")))
        self.problem = dict(problem)
