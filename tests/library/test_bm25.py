"""Scores: exactly BM25, whatever the segments, and without what has died."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.library.bm25 import K1, B, Block, View, best
from app.library.segment import (
    RECORD,
    Part,
    SegmentBuilder,
    Source,
    count_terms,
    merge,
    pack_lengths,
)

Texts = Sequence[list[str]]


def texts(count: int, seed: int) -> list[list[str]]:
    """Lists of made-up terms, common and rare, some empty."""
    chance = random.Random(seed)
    vocabulary = [f"t{rank}" for rank in range(200)]
    weights = [1 / (rank + 2) for rank in range(200)]
    return [chance.choices(vocabulary, weights, k=chance.randint(0, 60)) for _ in range(count)]


def built(some: Texts, first: int) -> SegmentBuilder:
    """A segment of one passage per snapshot; the snapshot's id is the number of its text."""
    builder = SegmentBuilder()
    for number, words in enumerate(some, first):
        builder.add(str(number), [Counter(words)])
    return builder


def source(builder: SegmentBuilder, dead: frozenset[str] = frozenset()) -> Source:
    postings = builder.postings()
    names = sorted(postings)
    return Source(
        lengths=pack_lengths(builder.lengths),
        live=[part for part in builder.parts if part.snapshot_id not in dead],
        terms=names,
        data=[postings[name] for name in names],
    )


def searched(
    segments: Sequence[tuple[bytes, Sequence[Part], dict[str, bytes]]],
    query: Sequence[str],
    *,
    limit: int = 1000,
    dead: frozenset[str] = frozenset(),
) -> dict[str, float]:
    """Score of each text found, best first."""
    views: list[View] = []
    blocks: dict[tuple[int, str], Block] = {}
    for number, (lengths, parts, postings) in enumerate(segments):
        sizes = np.frombuffer(lengths, "<u2").astype(np.float32)
        live = np.array([part.snapshot_id not in dead for part in parts], np.bool_)
        alive = sizes[live]
        views.append(
            View(
                segment_id=number,
                lengths=sizes,
                live=live if dead else None,
                starts=np.array([part.first for part in parts], np.int64),
                snapshots=[part.snapshot_id for part in parts],
                count=len(alive),
                total=float(alive.sum()),
            )
        )
        for term, data in postings.items():
            records = np.frombuffer(data, RECORD)
            blocks[number, term] = Block(
                np.ascontiguousarray(records["passage"]), records["times"].astype(np.float32)
            )
    return {c.snapshot_id: c.score for c in best(views, blocks, Counter(query), limit)}


def reference(some: Texts, query: Sequence[str]) -> dict[str, float]:
    """The formula, written down the slow way."""
    count = len(some)
    mean = sum(map(len, some)) / count
    scores: dict[str, float] = {}
    for number, words in enumerate(some):
        held = Counter(words)
        score = 0.0
        for term in query:
            holding = sum(term in other for other in some)
            rarity = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
            norm = K1 * (1 - B + B * len(words) / mean)
            score += rarity * held[term] * (K1 + 1) / (held[term] + norm)
        if score > 0:
            scores[str(number)] = score
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def plain(builder: SegmentBuilder) -> tuple[bytes, Sequence[Part], dict[str, bytes]]:
    return pack_lengths(builder.lengths), builder.parts, builder.postings()


@pytest.mark.parametrize("cuts", [(300,), (100, 300), (1, 2, 150, 299, 300)])
def test_scores_are_those_of_the_formula_however_the_texts_are_cut(cuts: tuple[int, ...]) -> None:
    some = texts(300, seed=1)
    edges = [0, *cuts]
    segments = [plain(built(some[a:b], a)) for a, b in zip(edges, cuts, strict=False)]
    for query in (["t0", "t5", "t150"], ["t3", "t3", "t199"], ["t1"], ["absent"], []):
        found, wanted = searched(segments, query), reference(some, query)
        assert found.keys() == wanted.keys()
        assert found == pytest.approx(wanted, rel=1e-4)


def test_what_has_died_neither_shows_nor_counts() -> None:
    some = texts(200, seed=2)
    dead = frozenset(str(number) for number in range(0, 200, 3))
    left = [words for number, words in enumerate(some) if str(number) not in dead]
    names = [str(number) for number in range(200) if str(number) not in dead]
    query = ["t0", "t7", "t90"]
    wanted = {names[int(key)]: score for key, score in reference(left, query).items()}
    segments = [plain(built(some[:120], 0)), plain(built(some[120:], 120))]
    assert searched(segments, query, dead=dead) == pytest.approx(wanted, rel=1e-4)


def test_a_merge_holds_what_lives_and_ranks_the_same() -> None:
    some = texts(250, seed=3)
    dead = frozenset({"0", "17", "99", "249"})
    first, second = built(some[:100], 0), built(some[100:], 100)
    merged = merge([source(first, dead), source(second, dead)])
    query = ["t0", "t4", "t60", "t180"]
    before = searched([plain(first), plain(second)], query, dead=dead)
    assert searched([merged], query) == pytest.approx(before, rel=1e-5)
    assert {part.snapshot_id for part in merged[1]} == {str(n) for n in range(250)} - dead
    for data in merged[2].values():
        passages = np.frombuffer(data, RECORD)["passage"]
        assert (np.diff(passages.astype(np.int64)) > 0).all()


def test_a_merge_of_the_dead_alone_is_empty() -> None:
    gone = replace(source(built(texts(5, seed=4), 0)), live=[])
    assert merge([gone]) == (b"", [], {})


def test_the_limit_keeps_the_best() -> None:
    some = texts(500, seed=5)
    segments = [plain(built(some, 0))]
    every = searched(segments, ["t0", "t2"])
    assert list(searched(segments, ["t0", "t2"], limit=7)) == list(every)[:7]


def test_a_term_that_occurs_very_often_is_counted_to_255() -> None:
    builder = built([["many"] * 1000, ["many"]], 0)
    records = np.frombuffer(builder.postings()["many"], RECORD)
    assert records["times"].tolist() == [255, 1]


def test_the_words_of_a_heading_count_once_more() -> None:
    counts = count_terms("a lease is renewed", "Leases\nLeases and epochs")
    assert (counts["leas"], counts["renew"], counts["epoch"]) == (2, 1, 1)
