"""From the state's spans to evidence with text, and back to the words of a question."""

from collections.abc import Sequence
from typing import Final

from graph.ports import Library, Passage, Ref
from graph.reasoner import Ask, Claim, Evidence, StepPlan
from graph.requirements import messages
from graph.state import Finding, Hit, Span, State, Step

_ABOVE: Final = 160  # code points above a passage in which its heading is looked for
_LONGEST_HEADING: Final = 100
_LETTERS: Final = 0.8  # of a heading; lines of code have fewer
_NONE: Final = Span(n=0, start=0, end=0, score=float("-inf"))
_STOPS: Final = ".!?;,:|。！？；，：…"


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
    return [
        Evidence(
            n=span["n"],
            ref=ref,
            text=text,
            title=state["sources"][str(span["n"])]["title"],
            score=span["score"],
            pinned=span["n"] in pinned,
            heading=heading,
        )
        for span, ref, (text, heading) in zip(spans, refs, await texts(library, refs), strict=True)
        if text
    ]


async def texts(library: Library, refs: Sequence[Ref]) -> list[tuple[str, str]]:
    """The text of each span and the heading it stands under, each "" where there is none."""
    if not refs:
        return []
    above = [Ref(r.key, max(0, r.start - _ABOVE), r.start) for r in refs]
    found = await library.read([*refs, *above])
    before = found[len(refs) :]
    return [(text, _heading(head)) for text, head in zip(found, before, strict=False)]


def _heading(before: str) -> str:
    """The line right above a passage, where it reads like a heading: short, alone, no stop."""
    lines = before.rstrip().rsplit("\n", 1)
    line = lines[-1].strip("#*_ \t")
    alone = len(lines) == 2 or len(before) < _ABOVE
    if not alone or not before.endswith("\n") or not 0 < len(line) <= _LONGEST_HEADING:
        return ""
    letters = sum(c.isalpha() or c.isspace() for c in line)
    return "" if line[-1] in _STOPS or letters < _LETTERS * len(line) else line


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


def passage_of(hit: Hit, text: str, heading: str = "") -> Passage:
    return Passage(
        ref=Ref(hit["key"], hit["start"], hit["end"]),
        text=text,
        url=hit["url"],
        title=hit["title"],
        kind=hit["kind"],
        date=hit["date"],
        score=hit["score"],
        heading=heading,
    )


def _ref(state: State, span: Span) -> Ref:
    return Ref(state["sources"][str(span["n"])]["key"], span["start"], span["end"])
