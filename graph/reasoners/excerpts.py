"""Choosing sentences and putting them into paragraphs that read well.

A paragraph is built around its best sentence: neighbours of the same block come along, so
that a quote keeps its context. Paragraphs are chosen by score and by what they add
(maximal marginal relevance: Carbonell and Goldstein 1998).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph.reasoners.candidates import Candidate, Scale, likeness

_NEW: Final = 0.55  # weight of what a sentence repeats of those chosen before
_SAME: Final = 0.8  # more words in common: the same said again
_WORTH: Final = 0.33  # of the best score; below it a paragraph is not worth its place
_MORE: Final = 0.08  # what a further sentence adds to an excerpt
_NEIGHBOUR: Final = 0.3  # of the seed's score, for a neighbour to come along


_EVEN: Final[Mapping[str, float]] = {}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Sentences of one block, in its order. `score` is of the whole: what its best sentence
    scores, and how much of what is asked all of them hold."""

    sentences: tuple[Candidate, ...]
    score: float


def scored(
    scale: Scale, among: Sequence[Candidate], favour: Mapping[str, float] = _EVEN
) -> list[Candidate]:
    """The candidates that speak of what is asked, best first; ties in order of the evidence.
    `favour`: factors for what stands under a heading (case folded)."""
    rated = [replace(item, score=scale.score(item) * favour.get(item.label, 1.0)) for item in among]
    return sorted((item for item in rated if item.score > 0), key=lambda item: -item.score)


def diverse(rated: Sequence[Candidate], limit: int) -> list[Candidate]:
    """The best sentences that do not repeat each other, best first."""
    left, chosen = list(rated), list[Candidate]()
    floor = rated[0].score * _WORTH if rated else 0.0
    repeats = dict.fromkeys(range(len(left)), 0.0)
    alive = list(range(len(left)))
    while alive and len(chosen) < limit:
        top = max(alive, key=lambda i: (left[i].score * (1 - _NEW * repeats[i]), -i))
        if left[top].score * (1 - _NEW * repeats[top]) < floor:
            break
        chosen.append(left[top])
        for i in alive:
            repeats[i] = max(repeats[i], likeness(left[i], left[top]))
        alive = [i for i in alive if i != top and repeats[i] < _SAME]
    return chosen


def excerpts(
    scale: Scale,
    among: Sequence[Candidate],
    *,
    paragraphs: int,
    length: int,
    told: Collection[str] = (),
    favour: Mapping[str, float] = _EVEN,
) -> list[Excerpt]:
    """Up to `paragraphs` excerpts of up to `length` sentences, best first. `told`: sentences
    that stand elsewhere already and are not chosen."""
    rated = [item for item in scored(scale, among, favour) if item.text not in told]
    scores = {(c.piece, c.block, c.order): c for c in rated}
    places = {(c.piece, c.block, c.order): c for c in among if c.text not in told}
    used: set[tuple[int, int, int]] = set()
    out: list[Excerpt] = []
    for seed in diverse(rated, paragraphs * 2):
        if len(out) == paragraphs:
            break
        if (seed.piece, seed.block, seed.order) in used:
            continue
        run = _grown(seed, places, scores, used, length)
        if run[0].dangles and run[0].order > 1:
            continue  # what it refers to cannot be quoted
        used |= {(c.piece, c.block, c.order) for c in run}
        out.append(Excerpt(tuple(run), _whole(run, scores, scale)))
    return sorted(out, key=lambda excerpt: -excerpt.score)


def _whole(
    run: Sequence[Candidate], scores: Mapping[tuple[int, int, int], Candidate], scale: Scale
) -> float:
    best = max(found.score for c in run if (found := scores.get((c.piece, c.block, c.order))))
    held = scale.covered(frozenset[str]().union(*(c.words for c in run)))
    return best * (0.5 + held) * (1 + _MORE * (len(run) - 1))


def _grown(
    seed: Candidate,
    places: Mapping[tuple[int, int, int], Candidate],
    scores: Mapping[tuple[int, int, int], Candidate],
    used: set[tuple[int, int, int]],
    length: int,
) -> list[Candidate]:
    """The seed with what it refers to before it, then with what follows and adds to it."""
    run = [seed]
    while len(run) < length and run[0].dangles:
        key = (seed.piece, seed.block, run[0].order - 1)
        if key not in places or key in used:
            break
        run.insert(0, places[key])
    while len(run) < length:
        key = (seed.piece, seed.block, run[-1].order + 1)
        after = places.get(key)
        rated = scores.get(key)
        if after is None or key in used:
            break
        speaks = rated is not None and rated.score >= _NEIGHBOUR * seed.score
        if not (speaks or after.dangles or _goes_on(run[-1], after)):
            break
        run.append(after)
    return run


def _goes_on(before: Candidate, after: Candidate) -> bool:
    """Whether a sentence takes up a word of the one before it: it explains it further."""
    return bool({w for w in before.words & after.words if len(w) > 1})


def arranged(found: Sequence[Excerpt]) -> list[list[Candidate]]:
    """Paragraphs of one to four sentences: sources by their best excerpt, each source's
    excerpts in the order of its text, lone neighbours joined."""
    by_source: dict[int, list[Excerpt]] = {}
    for excerpt in found:
        by_source.setdefault(excerpt.sentences[0].n, []).append(excerpt)
    out: list[list[Candidate]] = []
    for group in by_source.values():
        paragraphs: list[list[Candidate]] = []
        for excerpt in sorted(group, key=lambda e: e.sentences[0].start):
            small = len(excerpt.sentences) == 1
            if small and paragraphs and len(paragraphs[-1]) < 3:
                paragraphs[-1].extend(excerpt.sentences)
            else:
                paragraphs.append(list(excerpt.sentences))
        out += paragraphs
    return out
