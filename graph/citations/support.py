"""Does the evidence support a sentence? The rules of the gate, for one claim at a time.

A claim stands on the sources it cites when, over the spans found in them together:
1. every figure (number, percentage, date, code) is stated, in the span or in the sentences
   next to it; the span then grows to hold it;
2. they hold enough of its words: `ENOUGH` of the terms, less where characters are counted.
Where claim and source are in two languages, words prove nothing. Then its figures have to be
there all the same, and of the names it leaves in Latin letters at least half; a claim with
neither is decided by its id alone, and is reported so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from graph.citations.shelf import Claim, Shelf, Span, containment, lacks
from graph.citations.tongue import UNSPACED, foreign, names, script

ENOUGH: Final = 0.4  # of a claim's terms, where the writer cites the source
STRICT: Final = 0.6  # where the gate has to choose the source itself
UNSPACED_ENOUGH: Final = 0.3  # pairs of characters survive rewording less than words do
UNSPACED_STRICT: Final = 0.5
_IDLE: Final = 0.15  # a source that holds less than this, beside others, supports nothing
_REACH: Final = 2  # sentences a span may grow on each side to reach a figure

ID_ONLY: Final = "other language: decided by its id alone"


@dataclass(frozen=True, slots=True)
class Support:
    """The spans a claim stands on, by source number; or why it does not stand."""

    spans: dict[int, Span]
    fault: str | None = None
    note: str | None = None  # said of a claim that stands, where its ground is thin


def judge(
    claim: Claim, ids: Sequence[int], shelf: Shelf, language: str, *, strict: bool = False
) -> Support:
    """Tries the claim on these sources, all of which are on the shelf."""
    spans = {n: shelf.find(claim, n) for n in ids}
    if not spans:
        return Support({}, "no source")
    verbatim = {n: span for n, span in spans.items() if span.verbatim}
    if verbatim:
        return Support(_useful(claim, spans, language))
    spans, absent = _grown(claim, spans)
    if absent:
        return Support(spans, f"not in the cited passage: {', '.join(absent)}")
    abroad = [n for n, span in spans.items() if _abroad(claim, span, language)]
    if abroad:
        return _judge_abroad(claim, spans, shelf, strict=strict)
    if containment(claim, [span.widened(1).quote for span in spans.values()]) < _enough(
        claim, strict=strict
    ):
        return Support(spans, "the cited passage does not say this")
    return Support(_useful(claim, spans, language))


def rescue(
    claim: Claim, shelf: Shelf, language: str, *, near: Iterable[int], tried: Iterable[int] = ()
) -> Support:
    """Looks for a source that supports the claim; those cited `near` it first."""
    tried = set(tried)
    close = [n for n in dict.fromkeys(near) if n in shelf and n not in tried]
    found = [judge(claim, [n], shelf, language) for n in close]
    if not any(support.fault is None and support.note is None for support in found):
        rest = [n for n in shelf.numbers if n not in tried and n not in close]
        found += [judge(claim, [n], shelf, language, strict=True) for n in rest]
    good = [s for s in found if s.fault is None and s.note is None]
    if not good:
        return Support({}, "no source supports it")
    return max(good, key=lambda s: max(span.score for span in s.spans.values()))


def _grown(claim: Claim, spans: dict[int, Span]) -> tuple[dict[int, Span], list[str]]:
    """Spans that reach for the figures they lack, and the figures that stay out of reach."""
    absent = lacks(claim, [span.quote for span in spans.values()])
    for by in range(1, _REACH + 1):
        if not absent:
            break
        for n, span in list(spans.items()):
            wider = span.widened(by)
            others = [s.quote for m, s in spans.items() if m != n]
            left = lacks(claim, [wider.quote, *others])
            if len(left) < len(absent):
                spans, absent = {**spans, n: wider}, left
    return spans, [figure.text for figure in absent]


def _useful(claim: Claim, spans: dict[int, Span], language: str) -> dict[int, Span]:
    """Without the sources that would not carry the claim and add nothing to those that do."""
    out = dict(spans)
    for n, span in spans.items():
        if span.verbatim or len(out) == 1 or _abroad(claim, span, language):
            continue
        own = span.widened(1).quote
        rest = [other.widened(1).quote for m, other in out.items() if m != n]
        adds = containment(claim, [own, *rest]) > containment(claim, rest)
        states = len(lacks(claim, rest)) > len(lacks(claim, [own, *rest]))
        share = containment(claim, [own])
        carries = share >= _enough(claim, strict=False) and not lacks(claim, [own])
        if not states and not carries and (share < _IDLE or not adds):
            del out[n]
    return out


def _abroad(claim: Claim, span: Span, language: str) -> bool:
    return foreign(claim.text, span.piece.evidence.text, language)


def _judge_abroad(claim: Claim, spans: dict[int, Span], shelf: Shelf, *, strict: bool) -> Support:
    left = names(claim.text)
    said = {name for name in left if any(shelf.says(n, name) for n in spans)}
    if 2 * len(said) < len(left):
        return Support(spans, f"not in the cited source: {', '.join(sorted(left - said))}")
    if strict and not claim.figures and len(said) < 2:
        return Support(spans, "too little to tell by")
    return Support(spans, note=None if claim.figures or said else ID_ONLY)


def _enough(claim: Claim, *, strict: bool) -> float:
    if script(claim.text) in UNSPACED:
        return UNSPACED_STRICT if strict else UNSPACED_ENOUGH
    return STRICT if strict else ENOUGH
