"""From the state's spans to evidence with text, and back to the words of a question."""

from collections.abc import Sequence

from graph.ports import Library, Passage, Ref
from graph.reasoner import Ask, Claim, Evidence, StepPlan
from graph.requirements import messages
from graph.state import Finding, Hit, Span, State, Step


def ask_of(state: State) -> Ask:
    """The question with all that the reader has added to it."""
    answer = (state.get("clarification") or {}).get("answer")
    return Ask(
        question=state["question"],
        language=state["language"],
        depth=state["request"]["depth"],
        clarification=str(answer) if answer else None,
        requirements=messages(state),
    )


def step_plan(step: Step) -> StepPlan:
    return StepPlan(title=step["title"], intent=step["intent"], queries=tuple(step["queries"]))


def spans_of(state: State, step_ids: Sequence[str]) -> list[Span]:
    """Spans of these steps that may be used: pinned sources first, then by score; each once."""
    excluded = set(state.get("excluded", ()))
    pinned = set(state.get("pinned", ()))
    seen: dict[tuple[int, int, int], Span] = {}
    for step_id in step_ids:
        for span in state.get("evidence", {}).get(step_id, ()):
            key = (span["n"], span["start"], span["end"])
            if span["n"] not in excluded and span["score"] > seen.get(key, _NONE)["score"]:
                seen[key] = span
    return sorted(
        seen.values(), key=lambda s: (s["n"] not in pinned, -s["score"], s["n"], s["start"])
    )


async def load(
    state: State, library: Library, step_ids: Sequence[str], *, limit: int | None = None
) -> list[Evidence]:
    """Evidence of these steps with its text, best first. What is gone is left out."""
    spans = spans_of(state, step_ids)[:limit]
    pinned = set(state.get("pinned", ()))
    refs = [_ref(state, span) for span in spans]
    texts = await library.read(refs) if refs else ()
    return [
        Evidence(
            n=span["n"],
            ref=ref,
            text=text,
            title=state["sources"][str(span["n"])]["title"],
            score=span["score"],
            pinned=span["n"] in pinned,
        )
        for span, ref, text in zip(spans, refs, texts, strict=True)
        if text
    ]


def findings_of(state: State, step_ids: Sequence[str]) -> list[Finding]:
    """Findings of these steps that lean on no excluded source."""
    excluded = set(state.get("excluded", ()))
    return [
        finding
        for finding in state.get("findings", ())
        if finding["step"] in step_ids
        and not any(mark["n"] in excluded for mark in finding["citations"])
    ]


def claims(findings: Sequence[Finding]) -> tuple[Claim, ...]:
    return tuple(
        Claim(f["text"], tuple(dict.fromkeys(mark["n"] for mark in f["citations"])))
        for f in findings
    )


def hit_of(passage: Passage, score: float) -> Hit:
    return Hit(
        key=passage.ref.key,
        start=passage.ref.start,
        end=passage.ref.end,
        url=passage.url,
        title=passage.title,
        kind=passage.kind,
        date=passage.date,
        score=round(score, 6),
    )


def passage_of(hit: Hit, text: str) -> Passage:
    return Passage(
        ref=Ref(hit["key"], hit["start"], hit["end"]),
        text=text,
        url=hit["url"],
        title=hit["title"],
        kind=hit["kind"],
        date=hit["date"],
        score=hit["score"],
    )


_NONE = Span(n=0, start=0, end=0, score=float("-inf"))


def _ref(state: State, span: Span) -> Ref:
    return Ref(state["sources"][str(span["n"])]["key"], span["start"], span["end"])
