"""Runs threads of the workflow as the service does: one saver, a sink, kinds of runs."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import Command

from graph.context import Context
from graph.events import RESEARCH_EVENTS
from graph.ports import Library, Passage, SearchResult, Web, WebHit
from graph.reasoner import Reasoner
from graph.reasoners.extractive import ExtractiveReasoner
from graph.requirements import AMEND, requirement_update
from graph.start import start_input
from graph.values import values
from graph.workflow import compile_workflow

WORKFLOW = compile_workflow()
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Killed(Exception):
    """Stands for the death of the process: no node may handle it."""


@dataclass
class Recorder:
    """The sink of a thread; ids go on over its runs. `watch` sees each event after it."""

    events: list[tuple[str, str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, str, dict[str, Any]]]
    )
    epoch: int = 1
    watch: Callable[[str, Mapping[str, Any]], None] = lambda _name, _data: None

    def emit(self, event: str, data: Mapping[str, Any]) -> None:
        assert event in RESEARCH_EVENTS, event
        self.events.append((f"{self.epoch}-{len(self.events) + 1}", event, dict(data)))
        self.watch(event, data)

    def cursor(self) -> str:
        return self.events[-1][0] if self.events else f"{self.epoch}-0"

    def named(self, *names: str) -> list[dict[str, Any]]:
        return [data for _, name, data in self.events if name in names]


class NoWeb:
    """The web port where no provider is set up."""

    async def search(self, query: str, *, limit: int) -> SearchResult:
        return SearchResult(provider="none", hits=(), failed="no search provider is set up")

    async def fetch(self, hit: WebHit) -> Sequence[Passage]:
        raise AssertionError(f"nothing to fetch: {hit.url}")


@dataclass
class Stage:
    """One thread. `go` runs it until it ends, waits or is drained, and gives its state."""

    library: Library
    reasoner: Reasoner = field(default_factory=ExtractiveReasoner)
    web: Web = field(default_factory=NoWeb)
    sink: Recorder = field(default_factory=Recorder)
    saver: InMemorySaver = field(default_factory=InMemorySaver)
    control: RunControl = field(default_factory=RunControl)
    runs: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    run_id: str = ""

    @property
    def thread(self) -> dict[str, Any]:
        return {"configurable": {"thread_id": "t1"}}

    def graph(self) -> Any:
        return WORKFLOW.copy(update={"checkpointer": self.saver})

    @property
    def config(self) -> dict[str, Any]:
        return {"configurable": {"thread_id": "t1", "run_id": self.run_id}}

    async def ask(self, question: str, *, language: str = "auto", **request: Any) -> dict[str, Any]:
        return await self.go(
            start_input(
                thread_id="t1",
                owner="local",
                question=question,
                language=language,
                request=request,
            )
        )

    async def go(self, given: Any, *, same_run: bool = False) -> dict[str, Any]:
        if not same_run:
            self.run_id = f"run-{next(self.runs)}"
            self.sink.epoch += 1
        self.control = RunControl()
        context = Context(
            reasoner=self.reasoner,
            library=self.library,
            web=self.web,
            sink=self.sink,
            run_id=self.run_id,
            clock=lambda: NOW,
        )
        try:
            async for _ in self.graph().astream(
                given,
                self.config,
                context=context,
                control=self.control,
                durability="sync",
                stream_mode="updates",
            ):
                pass
        except GraphDrained:
            pass
        return await self.state()

    async def snapshot(self) -> Any:
        return await self.graph().aget_state(self.thread)

    async def state(self) -> dict[str, Any]:
        return dict((await self.snapshot()).values)

    async def values(self) -> dict[str, Any]:
        return values(await self.state())

    async def next(self) -> tuple[str, ...]:
        return (await self.snapshot()).next

    async def interrupt(self) -> tuple[str, dict[str, Any]]:
        """Id and value of the one open interrupt."""
        (only,) = (await self.snapshot()).interrupts
        return only.id, only.value

    async def answer(self, value: Any) -> dict[str, Any]:
        identity, _ = await self.interrupt()
        return await self.go(Command(resume={identity: value}))

    async def modify(self, requirement_id: str, **body: Any) -> dict[str, Any]:
        return await self.modify_all({"id": requirement_id, **body})

    async def modify_all(self, *bodies: dict[str, Any]) -> dict[str, Any]:
        """What the service does with wishes: on a finished thread they make a new version."""
        update = requirement_update(bodies)
        done = not (await self.next())
        return await self.go(Command(update=update, goto=AMEND) if done else Command(update=update))

    def drain_at(self, event: str, field: str, wanted: Any) -> None:
        """A drain is asked for when that event leaves, as a wish to a running run does."""

        def request(name: str, data: Mapping[str, Any]) -> None:
            if name == event and data.get(field) == wanted:
                self.control.request_drain("modify")
                self.sink.watch = lambda _name, _data: None

        self.sink.watch = request


def rebuilt(
    events: Sequence[tuple[str, str, dict[str, Any]]], known: Mapping[str, Any] | None = None
) -> dict[int, str]:
    """The text a page shows per section: what it knew, then what the events make of it."""
    text = {s["index"]: s["markdown"] for s in known["sections"]} if known else dict[int, str]()
    version = known["version"] if known else 1
    for _, name, data in events:
        if name in ("section.started", "section") and data["version"] > version:
            version, text = data["version"], {}
        if name == "section.started":
            text[data["index"]] = ""
        elif name == "token":
            text[data["section"]] += data["text"]
        elif name == "section":
            text[data["index"]] = data["markdown"]
    return {index: body for index, body in text.items() if body}
