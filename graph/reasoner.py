"""The port that thinks. Nodes call it and never know which implementation answers.

Implementations: `reasoners/extractive.py` (no key, no network) and `reasoners/llm.py`.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from graph.ports import Passage, Ref


@dataclass(frozen=True, slots=True)
class Ask:
    """The question as it stands now, with all that the reader has added to it."""

    question: str
    language: str  # "en", "zh", ...: the language of plan and report, set by code
    depth: str  # quick, standard, deep
    clarification: str | None = None  # the reader's answer to the clarifying question
    requirements: tuple[str, ...] = ()  # later wishes, oldest first


@dataclass(frozen=True, slots=True)
class Clarify:
    """A question back to the reader; `options` are suggestions, never a closed list."""

    question: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intent:
    """What the question wants. `clarify` only where an answer would change the plan."""

    title: str
    clarify: Clarify | None = None


@dataclass(frozen=True, slots=True)
class StepPlan:
    """One step of the plan: what to find out, and the queries that look for it."""

    title: str
    intent: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage under its short id: the model sees `[S{n}]`, never an address."""

    n: int
    ref: Ref
    text: str
    title: str
    score: float = 0.0  # of its search; 0..1
    pinned: bool = False  # the reader wants this source to lead
    heading: str = ""  # the one it stands under, where known


@dataclass(frozen=True, slots=True)
class Claim:
    """One finding and the source numbers it rests on."""

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    findings: tuple[Claim, ...] = ()
    open_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """What one section has to say, and with what."""

    title: str
    intent: str
    evidence: tuple[Evidence, ...]
    findings: tuple[Claim, ...] = ()
    before: tuple[str, ...] = field(default=())  # sections already written, to not repeat
    others: tuple[str, ...] = ()  # titles of the sections still to come: theirs to tell
    summary: bool = False  # the opening section: the answer in short, over all steps


class Reasoner(Protocol):
    """All thinking of the workflow. May raise `ports.ModelFailed`; never returns junk."""

    @property
    def name(self) -> str:
        """`extractive`, or the model's name."""
        ...

    async def intent(self, ask: Ask) -> Intent: ...

    async def plan(
        self,
        ask: Ask,
        scope: Sequence[Passage],
        *,
        previous: Sequence[StepPlan] = (),
        feedback: str | None = None,
    ) -> Sequence[StepPlan]:
        """Two to six steps; `previous` and `feedback` where the reader asked for a revision."""
        ...

    async def analyse(self, ask: Ask, step: StepPlan, evidence: Sequence[Evidence]) -> Analysis: ...

    async def reflect(
        self, ask: Ask, steps: Sequence[StepPlan], open_questions: Sequence[str]
    ) -> Sequence[StepPlan]:
        """Further steps worth their cost, or none."""
        ...

    def write(self, ask: Ask, brief: Brief) -> AsyncIterator[str]:
        """Markdown pieces as they come; each claim followed by its mark, such as `[S3]`."""
        ...
