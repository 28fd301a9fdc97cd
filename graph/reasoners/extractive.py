"""ExtractiveReasoner: no key, no network, no chance. It plans from the question's own parts
and the headings it finds, and it writes with the sources' own sentences, word for word."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from graph.ports import Passage
from graph.reasoner import Analysis, Ask, Brief, Claim, Clarify, Evidence, Intent, StepPlan
from graph.reasoners.aspects import VAGUE, headings, keywords, parts, phrases, subject
from graph.reasoners.candidates import Candidate, Scale, beside, candidates
from graph.reasoners.excerpts import Excerpt, arranged, diverse, excerpts, scored
from graph.text.clean import one_line
from graph.text.language import detect
from graph.text.phrases import phrase
from graph.text.words import query_terms

_MARK: Final = re.compile(r"\s*\[S\d+\]\s*")
_DROP: Final = re.compile(
    r"\b(?:drop|remove|delete|skip|without|leave out)\b[^.;]{0,40}?\bsteps?\s+\d[\d\s,and&]*"
    r"|(?:删除|去掉|删掉|不要|去除)第?\s*\d[\d、，,和]*\s*步",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    """How much a depth says: steps of a plan, findings of a step, paragraphs of a section."""

    steps: int
    findings: int
    paragraphs: int


_AMOUNTS: Final = {"quick": Amount(3, 4, 2), "standard": Amount(4, 6, 3), "deep": Amount(5, 9, 5)}
_SUMMARY: Final = Amount(0, 0, 4)  # paragraphs to choose from
_SENTENCES: Final = 3  # of an excerpt
_OWN: Final = 2.5  # what stands under the heading that the section is named after
_VAGUE: Final = 0.5  # weight of words that a question is built with
_ANSWER: Final = 4  # sentences of a summary
_NEARLY: Final = 0.6
_WIDE_STOPS: Final = "。！？…”』」）"


class ExtractiveReasoner:
    """Deterministic. The ranking runs in a thread: a cancel need not wait for it."""

    @property
    def name(self) -> str:
        return "extractive"

    async def intent(self, ask: Ask) -> Intent:
        topic = subject(ask.question)
        if not _too_thin(ask.question):
            return Intent(title=topic)
        names = ("option_what", "option_use", "option_why")
        return Intent(
            title=topic,
            clarify=Clarify(
                question=phrase(ask.language, "which", topic=topic),
                options=tuple(phrase(ask.language, name, topic=topic) for name in names),
            ),
        )

    async def plan(
        self,
        ask: Ask,
        scope: Sequence[Passage],
        *,
        previous: Sequence[StepPlan] = (),
        feedback: str | None = None,
    ) -> Sequence[StepPlan]:
        if previous and feedback:
            return _revised(ask, previous, feedback)
        return await asyncio.to_thread(_planned, ask, scope)

    async def analyse(self, ask: Ask, step: StepPlan, evidence: Sequence[Evidence]) -> Analysis:
        return await asyncio.to_thread(_analysed, ask, step, evidence)

    async def reflect(
        self, ask: Ask, steps: Sequence[StepPlan], open_questions: Sequence[str]
    ) -> Sequence[StepPlan]:
        known = {step.title.casefold() for step in steps}
        new = [q for q in open_questions if subject(q).casefold() not in known]
        return [_step(ask, q) for q in new]

    async def write(self, ask: Ask, brief: Brief) -> AsyncIterator[str]:
        for piece in await asyncio.to_thread(_written, ask, brief):
            yield piece


def _too_thin(question: str) -> bool:
    """One short word: anything could be meant."""
    words = phrases(question, detect(question)) or [question.strip()]
    bare = question.strip(" ?？.。!！")
    return (
        len(words) <= 1
        and len(bare) <= 20
        and len(bare.split()) <= 1
        and (bare.isascii() or len(bare) <= 4)
    )


def _planned(ask: Ask, scope: Sequence[Passage]) -> list[StepPlan]:
    """The question itself, its parts, what the first look named, what its words name."""
    limit = _AMOUNTS.get(ask.depth, _AMOUNTS["standard"]).steps
    whole = " ".join(filter(None, (ask.question, ask.clarification)))
    first = StepPlan(
        title=subject(ask.question, 200),
        intent=phrase(ask.language, "overview"),
        queries=tuple(dict.fromkeys((one_line(whole), keywords(whole)))),
    )
    out = [first]
    found = parts(ask.question)
    named = [ask.clarification] if ask.clarification else []
    named += found if len(found) > 1 else []
    named += _mixed(headings(whole, scope), phrases(ask.question, ask.language))
    for topic in named:
        if len(out) < limit and _adds(topic, out):
            out.append(_step(ask, topic, within=keywords(whole)))
    out += [_step(ask, wish) for wish in ask.requirements]
    return out


def _mixed(found: list[str], said: list[str]) -> list[str]:
    """What the first look named; where it named nothing, what the question itself names:
    phrases, or at least its longest word."""
    phrased = [topic for topic in said if " " in topic or not topic.isascii()]
    return found or phrased or sorted(said, key=len, reverse=True)[:1]


def _adds(topic: str, steps: Sequence[StepPlan]) -> bool:
    """Whether a topic is not just another step in other words."""
    words = set(query_terms(topic))
    return (
        bool(words)
        and all(
            len(words & set(query_terms(step.title))) < max(1, 0.75 * len(words))
            for step in steps[1:]
        )
        and words != set(query_terms(steps[0].title))
    )


def _step(ask: Ask, topic: str, within: str = "") -> StepPlan:
    title = subject(topic, 200)
    if ask.language == "zh" and title.isascii():
        title = phrase(ask.language, "aspects", topic=title)
    core = keywords(topic)
    queries = [core] if not within else [keywords(f"{topic} {within}"), core]
    if not within:
        queries.insert(0, one_line(topic))
    return StepPlan(
        title=title,
        intent=phrase(ask.language, "gather", topic=subject(topic, 200)),
        queries=tuple(dict.fromkeys(queries)),
    )


def _revised(ask: Ask, previous: Sequence[StepPlan], feedback: str) -> list[StepPlan]:
    """Drops the steps that the reader names by number; else adds what the reader asks for."""
    match = _DROP.search(feedback)
    if match:
        gone = {int(n) for n in re.findall(r"\d+", match[0])}
        left = [step for number, step in enumerate(previous, 1) if number not in gone]
        if left and len(left) < len(previous):
            return left
    return [*previous, _step(ask, feedback)]


def _weights(*texts: tuple[str, float]) -> dict[str, float]:
    """Terms of some texts with the largest of their weights."""
    out: dict[str, float] = {}
    for text, weight in texts:
        for term in query_terms(text):
            least = weight * (_VAGUE if term in VAGUE else 1)
            out[term] = max(out.get(term, 0.0), least)
    return out


def _scale(
    ask: Ask, among: Sequence[Candidate], title: str = "", queries: Sequence[str] = ()
) -> Scale:
    """What counts in a step: its own words, and less so those of the question."""
    own = 0.5 if title else 1.0
    pairs = beside(query_terms(title or ask.question))
    asked = _weights(
        (ask.question, own),
        (ask.clarification or "", own),
        (title, 1.0),
        *((query, 0.6) for query in queries),
    )
    return Scale(asked, among, pairs)


def _quotable(ask: Ask, evidence: Sequence[Evidence]) -> list[Candidate]:
    """Sentences of the evidence, without those that only ask the question again."""
    question = subject(ask.question).casefold()
    found = candidates(evidence, ask.language)
    whole = len(set(query_terms(question))) > 3  # a few words are a topic, not yet a question
    return [item for item in found if not whole or question not in item.text.casefold()]


def _analysed(ask: Ask, step: StepPlan, evidence: Sequence[Evidence]) -> Analysis:
    amount = _AMOUNTS.get(ask.depth, _AMOUNTS["standard"])
    among = _quotable(ask, evidence)
    rated = scored(_scale(ask, among, step.title, step.queries), among)
    best = diverse(
        [item for item in rated if not item.dangles or item.order == 1] or rated, amount.findings
    )
    if not best:
        return Analysis(open_questions=(step.title,))
    return Analysis(findings=tuple(Claim(item.text, (item.n,)) for item in best))


def _written(ask: Ask, brief: Brief) -> list[str]:
    """Pieces of one sentence each, its mark behind it."""
    amount = _AMOUNTS.get(ask.depth, _AMOUNTS["standard"])
    among = _quotable(ask, brief.evidence)
    told = {s for text in brief.before for s in _told(text)}
    scale = _scale(ask, among) if brief.summary else _scale(ask, among, brief.title)
    count = _SUMMARY.paragraphs if brief.summary else amount.paragraphs
    all_of_it = among
    if not brief.summary:
        theirs = {title.casefold() for title in brief.others}
        among = [item for item in among if item.label not in theirs]
    favour = {brief.title.casefold(): _OWN}
    found = excerpts(scale, among, paragraphs=count, length=_SENTENCES, told=told, favour=favour)
    if not found and not brief.summary:  # then a little of what the others have to tell
        found = excerpts(scale, all_of_it, paragraphs=1, length=_SENTENCES, told=told)
    out: list[str] = []
    for paragraph in _short(found or _quoted(brief, among)) if brief.summary else arranged(found):
        for place, item in enumerate(paragraph):
            gap = "" if item.text[-1] in _WIDE_STOPS else " "
            lead = gap if place else "\n\n" if out else ""
            out.append(f"{lead}{item.text}{gap}[S{item.n}]")
    return out


def _quoted(brief: Brief, among: Sequence[Candidate]) -> list[Excerpt]:
    """The first findings, where no sentence speaks of the question in its own words."""
    texts = {claim.text for claim in brief.findings[:_SENTENCES]}
    return [Excerpt((item,), 1.0) for item in among if item.text in texts]


def _short(found: list[Excerpt]) -> list[tuple[Candidate, ...]]:
    """The best excerpt first, another only where it says nearly as much: an answer in short."""
    out = found[:1]
    for other in found[1:]:
        room = _ANSWER - sum(len(excerpt.sentences) for excerpt in out)
        if other.score >= _NEARLY * found[0].score and len(other.sentences) <= room:
            out.append(other)
    return [excerpt.sentences for excerpt in out]


def _told(raw: str) -> list[str]:
    return [text.strip() for text in _MARK.split(raw) if text.strip()]
