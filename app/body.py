"""The body: executes one run of the workflow. The one place that sees a graph and an `Emit`.

What a run passes to the graph, by what the checkpoint says when it begins:
1. No checkpoint: the thread's own input, never None.
2. A pending interrupt: the run's stored answer, by its id; else the thread waits again.
3. A checkpoint that names this run: None, the run goes on where it was.
4. Finished: requirements enter at the amend node; without any there is nothing to do.
5. In the middle: None, with the queued requirements as an update.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, StateSnapshot

from app.saver import RunSaver
from graph import AMEND, Context, requirement_update, start_input, unapplied
from graph.events import RESEARCH_EVENTS
from registry.database import Database
from registry.patience import patiently
from registry.requirements import Requirements
from registry.run import Emit, Interrupt, Outcome, Run
from registry.store import RunStore
from registry.threads import Threads

Workflow = CompiledStateGraph[Any, Any, Any, Any]
RECURSION = 500  # supersteps of one run; the workflow's own bounds are far below


class EmitSink:
    """`graph.ports.Sink` over a run's `Emit`. `before`: counters of the thread's earlier runs."""

    def __init__(self, emit: Emit, before: dict[str, float]) -> None:
        self._emit = emit
        self.before = before

    @property
    def counters(self) -> dict[str, float]:
        return self._emit.counters

    def emit(self, event: str, data: Mapping[str, Any]) -> None:
        if event not in RESEARCH_EVENTS:
            raise ValueError(f"{event!r} is not an event of the workflow")
        self._emit(event, data)

    def cursor(self) -> str:
        return str(self._emit.cursor)


def thread_config(thread_id: UUID, run_id: UUID | None = None) -> RunnableConfig:
    configurable = {"thread_id": str(thread_id)}
    if run_id is not None:
        configurable["run_id"] = str(run_id)  # ends up in each checkpoint's metadata
    return {"configurable": configurable, "recursion_limit": RECURSION}


class ResearchBody:
    """A `registry.run.Body`. `make_context(run, sink)` gives the nodes what they need."""

    def __init__(
        self,
        workflow: Workflow,
        database: Database,
        make_context: Callable[[Run, EmitSink], Context],
    ) -> None:
        self._workflow = workflow
        self._database = database
        self._threads = Threads(database)
        self._requirements = Requirements(database)
        self._runs = RunStore(database)
        self._make_context = make_context

    async def __call__(self, run: Run, emit: Emit) -> Outcome:
        saver = RunSaver(self._database, (run.thread_id, run.epoch))
        graph = self._workflow.copy(update={"checkpointer": saver})
        config = thread_config(run.thread_id, run.run_id)
        before = await patiently(lambda: self._runs.counters(run.thread_id))
        context = self._make_context(run, EmitSink(emit, before))
        state = await graph.aget_state(config)
        begin = await self._begin(run, state)
        if begin is None:
            return _outcome(state)
        work: Any = begin.value
        while True:
            control = RunControl()
            emit.on_request(control.request_drain)
            try:
                async for _ in graph.astream(
                    work,
                    config,
                    context=context,
                    stream_mode="updates",
                    durability="sync",
                    control=control,
                ):
                    pass
            except GraphDrained:
                if control.drain_reason == "shutdown":
                    return Outcome("handed_back")
                emit.answered()
                work = await self._update(run)
                continue
            break
        state = await graph.aget_state(config)
        await self._mark(run, state)
        return _outcome(state)

    async def settled(self, thread_id: UUID, kind: str, given: Mapping[str, Any]) -> bool:
        """The checkpoint leaves a run of this kind and input nothing to do but to say so:
        it is at its end, or at an interrupt that is not the one the input answers."""
        graph = self._workflow.copy(update={"checkpointer": RunSaver(self._database)})
        state = await graph.aget_state(thread_config(thread_id))
        if state.interrupts:
            answered = given.get("interrupt_id") if kind == "answer" else None
            return answered not in {item.id for item in state.interrupts}
        return bool(state.values) and not state.tasks and kind != "modify"

    async def _begin(self, run: Run, state: StateSnapshot) -> "_Input | None":
        """What to pass to the graph; None where the thread already stands at its end."""
        if not state.values:
            thread = await patiently(lambda: self._threads.get_any(run.thread_id))
            return _Input(
                start_input(
                    thread_id=str(run.thread_id),
                    owner=run.owner,
                    question=thread.question,
                    language=str(thread.input.get("language", "auto")),
                    request=thread.input,
                )
            )
        if state.interrupts:
            answer_id = run.input.get("interrupt_id") if run.kind == "answer" else None
            if answer_id not in {item.id for item in state.interrupts}:
                return None
            bodies = await self._queued(run)
            update = requirement_update(bodies) if bodies else None
            return _Input(Command(resume={answer_id: run.input["value"]}, update=update))
        # Not `next`: it leaves out tasks whose writes are stored although their step is not.
        if state.tasks:
            return _Input(await self._update(run))
        bodies = await self._queued(run)
        if run.kind == "modify" and bodies:
            return _Input(Command(update=requirement_update(bodies), goto=AMEND))
        return None

    async def _queued(self, run: Run) -> list[dict[str, Any]]:
        return await patiently(lambda: self._requirements.queued(run.thread_id))

    async def _update(self, run: Run) -> Command[Any] | None:
        bodies = await self._queued(run)
        return Command(update=requirement_update(bodies)) if bodies else None

    async def _mark(self, run: Run, state: StateSnapshot) -> None:
        """Requirements that the workflow has applied are done; the others stay queued."""
        left = set(unapplied(state.values))
        taken = [item["id"] for item in state.values.get("requirements", [])]
        done = [item for item in taken if item not in left]
        if done:
            await patiently(
                lambda: self._requirements.mark(run.thread_id, run.epoch, done, "applied")
            )


class _Input:
    """A value for the graph, which may itself be None."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _outcome(state: StateSnapshot) -> Outcome:
    title = state.values.get("title")
    if state.interrupts:
        waiting = tuple(
            Interrupt(item.id, item.value["kind"], item.value["payload"])
            for item in state.interrupts
        )
        return Outcome("waiting", interrupts=waiting, title=title)
    return Outcome("succeeded", title=title)
