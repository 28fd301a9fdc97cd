"""A cancel passes through every node at once, and the thread can go on afterwards."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from graph.ports import Passage
from graph.reasoner import Analysis, Ask, Brief, Evidence, StepPlan
from graph.reasoners.extractive import ExtractiveReasoner
from graph.values import report
from tests.graph.shelf import Shelf
from tests.graph.stage import Stage

QUESTION = "How does a cancel reach a run on another worker?"


@dataclass
class Hanging(ExtractiveReasoner):
    """Hangs for ever in one kind of thinking, until told not to."""

    where: str = ""
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def _hang(self, where: str) -> None:
        if where == self.where:
            self.reached.set()
            await asyncio.Event().wait()

    async def plan(
        self,
        ask: Ask,
        scope: Sequence[Passage],
        *,
        previous: Sequence[StepPlan] = (),
        feedback: str | None = None,
    ) -> Sequence[StepPlan]:
        await self._hang("plan")
        return await super().plan(ask, scope, previous=previous, feedback=feedback)

    async def analyse(self, ask: Ask, step: StepPlan, evidence: Sequence[Evidence]) -> Analysis:
        await self._hang("analyse")
        return await super().analyse(ask, step, evidence)

    async def write(self, ask: Ask, brief: Brief) -> AsyncIterator[str]:
        async for piece in super().write(ask, brief):
            yield piece
            await self._hang("write")


@pytest.mark.parametrize("where", ["plan", "analyse", "write"])
async def test_a_cancel_ends_the_run_at_once_and_a_resume_finishes_it(where: str) -> None:
    thinker = Hanging(where=where)
    stage = Stage(Shelf.of(), reasoner=thinker)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stage.ask(QUESTION, review_plan=False))
        async with asyncio.timeout(10):
            await thinker.reached.wait()
        began = time.perf_counter()
        task.cancel()
        await asyncio.wait({task})
        took = time.perf_counter() - began
    assert task.cancelled()
    assert took < 0.5
    thinker.where = ""
    assert report(await stage.go(None)) is not None


async def test_a_cancel_in_the_fan_out_stops_all_branches() -> None:
    reached = asyncio.Event()
    running = 0

    class Slow(Shelf):
        async def search(self, query: str, *, owner: str, limit: int) -> Sequence[Passage]:
            nonlocal running
            if len(self.searched) == 0:  # the first look
                return await super().search(query, owner=owner, limit=limit)
            running += 1
            reached.set()
            try:
                await asyncio.Event().wait()
            finally:
                running -= 1
            raise AssertionError

    stage = Stage(Slow(Shelf.of().documents))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stage.ask(QUESTION, review_plan=False))
        async with asyncio.timeout(10):
            await reached.wait()
        task.cancel()
        await asyncio.wait({task})
    assert task.cancelled()
    assert running == 0
    stage.library = Shelf.of()
    assert report(await stage.go(None)) is not None
