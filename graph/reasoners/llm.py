"""LlmReasoner: a chat model thinks, code holds it to what it was given.

Each typed answer that no rung of the model's ladder gives, or that says nothing usable, is
taken from the fallback: deterministic, and of the same evidence. A model that cannot be
asked at all (`ModelFailed`) is never papered over.
"""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from graph.ports import ChatModel, ModelFailed, Passage
from graph.reasoner import (
    Analysis,
    Ask,
    Brief,
    Claim,
    Clarify,
    Evidence,
    Intent,
    Reasoner,
    StepPlan,
)
from graph.reasoners.prompts import (
    asked,
    bullets,
    claims_text,
    evidence_text,
    fenced,
    first_look,
    prompt,
    steps_text,
    without_marks,
)
from graph.reasoners.schemas import ANALYSIS, FURTHER, INTENT, PLAN
from graph.text.clean import one_line

_STEPS: Final = {"quick": "two or three", "standard": "three or four", "deep": "four to six"}
_FINDINGS: Final = {"quick": "four", "standard": "six", "deep": "ten"}
_LENGTH: Final = {
    "quick": "About 100 to 200 words.",
    "standard": "About 200 to 350 words.",
    "deep": "About 350 to 600 words.",
}
_SUMMARY: Final = "About 80 to 150 words."
_EVIDENCE: Final = 24_000  # code points of evidence in one prompt, about 6,000 tokens
_BEFORE: Final = 6_000
_DIGITS: Final = re.compile(r"\d{1,6}")
_SHORT: Final = "/problems/model-length"
_EMPTY: Final = "/problems/model-empty"


class LlmReasoner:
    """`name` is the model's; `fallback` answers where the model gives nothing usable."""

    def __init__(self, model: ChatModel, name: str, fallback: Reasoner) -> None:
        self._model = model
        self._name = name
        self._fallback = fallback

    @property
    def name(self) -> str:
        return self._name

    async def intent(self, ask: Ask) -> Intent:
        system = prompt("intent", ask.language)
        answer = await self._model.structured(system, asked(ask), INTENT, node="intent")
        title = one_line(answer["title"], 120) if answer else ""
        if not answer or not title:
            return await self._fallback.intent(ask)
        question = one_line(answer.get("question", ""), 400)
        if not answer.get("clarify") or not question:
            return Intent(title=title)
        options = dict.fromkeys(one_line(option, 120) for option in answer.get("options", ()))
        return Intent(title=title, clarify=Clarify(question, tuple(filter(None, options))))

    async def plan(
        self,
        ask: Ask,
        scope: Sequence[Passage],
        *,
        previous: Sequence[StepPlan] = (),
        feedback: str | None = None,
    ) -> Sequence[StepPlan]:
        system = prompt("plan", ask.language, steps=_STEPS.get(ask.depth, _STEPS["standard"]))
        user = asked(ask) + fenced("first_look", first_look(scope))
        if previous and feedback:
            user += fenced("plan", steps_text(previous)) + fenced("feedback", feedback)
        answer = await self._model.structured(system, user, PLAN, node="plan")
        steps = _steps(answer)
        if steps:
            return steps
        return await self._fallback.plan(ask, scope, previous=previous, feedback=feedback)

    async def analyse(self, ask: Ask, step: StepPlan, evidence: Sequence[Evidence]) -> Analysis:
        if not evidence:
            return await self._fallback.analyse(ask, step, evidence)
        most = _FINDINGS.get(ask.depth, _FINDINGS["standard"])
        system = prompt("analyse", ask.language, findings=most)
        user = (
            asked(ask)
            + fenced("step", f"{step.title}\n{step.intent}")
            + fenced("evidence", evidence_text(evidence, _EVIDENCE))
        )
        answer = await self._model.structured(system, user, ANALYSIS, node="analyse")
        findings = _claims(answer, {item.n for item in evidence})
        if not answer or not findings:
            return await self._fallback.analyse(ask, step, evidence)
        lines = (one_line(question) for question in answer.get("open_questions", ()))
        return Analysis(findings, tuple(dict.fromkeys(line for line in lines if line)))

    async def reflect(
        self, ask: Ask, steps: Sequence[StepPlan], open_questions: Sequence[str]
    ) -> Sequence[StepPlan]:
        if not open_questions:
            return ()
        system = prompt("reflect", ask.language, steps="two")
        user = (
            asked(ask)
            + fenced("steps_done", steps_text(steps))
            + fenced("open_questions", bullets(open_questions))
        )
        answer = await self._model.structured(system, user, FURTHER, node="reflect")
        if answer is None:
            return await self._fallback.reflect(ask, steps, open_questions)
        known = {step.title.casefold() for step in steps}
        return [step for step in _steps(answer) if step.title.casefold() not in known]

    async def write(self, ask: Ask, brief: Brief) -> AsyncGenerator[str]:
        """Tokens as they come. What an answer says before its length limit stands."""
        given = False
        try:
            async with aclosing(self._written(ask, brief)) as pieces:
                async for piece in pieces:
                    given = True
                    yield piece
        except ModelFailed as failure:
            kind = failure.problem.get("type")
            if kind not in (_EMPTY, _SHORT) or (kind == _EMPTY and given):
                raise
        if not given:
            async for piece in self._fallback.write(ask, brief):
                yield piece

    async def _written(self, ask: Ask, brief: Brief) -> AsyncGenerator[str]:
        length = _SUMMARY if brief.summary else _LENGTH.get(ask.depth, _LENGTH["standard"])
        name = "summary" if brief.summary else "write"
        system = prompt(name, ask.language, length=length)
        user = (
            asked(ask)
            + fenced("section", f"{brief.title}\n{brief.intent}")
            + fenced("already_written", without_marks(brief.before, _BEFORE))
            + fenced("findings", claims_text(brief.findings))
            + fenced("evidence", evidence_text(brief.evidence, _EVIDENCE))
        )
        held: str | None = ""  # until there is more than blanks: an answer of those is none
        pieces = self._model.stream(system, user, node="write")
        try:
            async for piece in pieces:
                if held is None:
                    yield piece
                elif (held + piece).strip():
                    yield held + piece
                    held = None
                else:
                    held += piece
        finally:
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()


def _steps(answer: Mapping[str, Any] | None) -> list[StepPlan]:
    """Steps with a title and queries; one without queries is searched for by its title."""
    out: dict[str, StepPlan] = {}
    for step in answer["steps"] if answer else ():
        title = one_line(step["title"], 160)
        queries = tuple(dict.fromkeys(filter(None, map(one_line, step.get("queries", ())))))
        if title:
            intent = one_line(step.get("intent", "")) or title
            out.setdefault(title.casefold(), StepPlan(title, intent, queries or (title,)))
    return list(out.values())


def _claims(answer: Mapping[str, Any] | None, known: set[int]) -> tuple[Claim, ...]:
    """Findings that rest on at least one source that was there."""
    out: dict[str, Claim] = {}
    for finding in answer["findings"] if answer else ():
        text = one_line(finding["text"], 800)
        ids = [int(d) for source in finding.get("sources", ()) for d in _DIGITS.findall(source)]
        sources = tuple(dict.fromkeys(n for n in ids if n in known))
        if text and sources:
            out.setdefault(text, Claim(text, sources))
    return tuple(out.values())
