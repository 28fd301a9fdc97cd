"""Ranking that needs no index: several rankings into one, and a few passages by a question."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from graph.ports import Passage, Ref
from graph.text.words import query_terms, terms

_RRF: Final = 60  # Cormack, Clarke, Büttcher 2009: 1 / (60 + rank)
_K1: Final = 1.2  # BM25, as Robertson and Zaragoza 2009 give it
_B: Final = 0.75


def fused(rankings: Sequence[Sequence[Passage | None]]) -> list[tuple[Passage, float]]:
    """Reciprocal rank fusion; scores in 0..1, best first, ties in order of arrival."""
    scores: dict[Ref, float] = {}
    passages: dict[Ref, Passage] = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking, 1):
            if passage is not None:
                scores[passage.ref] = scores.get(passage.ref, 0.0) + 1 / (_RRF + rank)
                passages.setdefault(passage.ref, passage)
    most = len(rankings) / (_RRF + 1) or 1.0
    best = sorted(scores, key=lambda ref: -scores[ref])
    return [(passages[ref], scores[ref] / most) for ref in best]


def bm25(question: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """The score of each tokenised text for the terms of a question."""
    count = len(texts) or 1
    frequency = Counter(term for words in texts for term in set(words))
    mean = sum(map(len, texts)) / count or 1.0
    out: list[float] = []
    for words in texts:
        held = Counter(words)
        length = _K1 * (1 - _B + _B * len(words) / mean)
        out.append(
            sum(
                math.log(1 + (count - frequency[t] + 0.5) / (frequency[t] + 0.5))
                * held[t]
                * (_K1 + 1)
                / (held[t] + length)
                for t in set(question)
                if held[t]
            )
        )
    return out


def best_passages(question: str, passages: Sequence[Passage], limit: int) -> list[Passage]:
    """The passages that say most on a question; those that share no word with it last."""
    scores = bm25(query_terms(question), [terms(p.text) for p in passages])
    order = sorted(range(len(passages)), key=lambda i: -scores[i])
    return [passages[i] for i in order[:limit]]
