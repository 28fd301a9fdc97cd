"""Reasoners that do one thing differently, on top of the extractive one."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from graph.ports import ModelFailed
from graph.reasoner import Analysis, Ask, Brief, Evidence, StepPlan
from graph.reasoners.extractive import ExtractiveReasoner


@dataclass
class Curious(ExtractiveReasoner):
    """Always has an open question and always wants a further step."""

    asked: list[int] = field(default_factory=list[int])

    async def analyse(self, ask: Ask, step: StepPlan, evidence: Sequence[Evidence]) -> Analysis:
        found = await super().analyse(ask, step, evidence)
        return Analysis(found.findings, (f"what else about {step.title}?",))

    async def reflect(
        self, ask: Ask, steps: Sequence[StepPlan], open_questions: Sequence[str]
    ) -> Sequence[StepPlan]:
        self.asked.append(len(steps))
        number = len(steps)
        return [
            StepPlan(f"Heartbeats {number}-{i}", "more", ("heartbeats silence comment",))
            for i in range(5)
        ]


@dataclass
class Failing(ExtractiveReasoner):
    """A model that cannot analyse the steps whose title matches, as often as told."""

    title: str = ""
    times: int = 10**6

    async def analyse(self, ask: Ask, step: StepPlan, evidence: Sequence[Evidence]) -> Analysis:
        if re.search(self.title, step.title) and self.times > 0:
            self.times -= 1
            raise ModelFailed({"title": "The model does not answer", "detail": "HTTP 500"})
        return await super().analyse(ask, step, evidence)


@dataclass
class Inventing(ExtractiveReasoner):
    """Writes sentences that no source backs, in as many sections as told."""

    sections: int = 10**6

    async def write(self, ask: Ask, brief: Brief) -> AsyncIterator[str]:
        if self.sections <= 0:
            async for piece in super().write(ask, brief):
                yield piece
            return
        self.sections -= 1
        for number in range(4):
            yield f"Exactly {4711 + number} of 9999 penguins in {brief.title} prefer jazz. [S97] "


@dataclass
class Messy(ExtractiveReasoner):
    """Writes what models write: NUL, halves of pairs, an invented id, no mark at all."""

    async def write(self, ask: Ask, brief: Brief) -> AsyncIterator[str]:
        async for piece in super().write(ask, brief):
            yield piece
        yield "\n\nA claim with a \x00 NUL and \ud800 half a pair. [S99]"
        yield ""
