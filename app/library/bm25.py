"""BM25 over segments, with numpy: exact scores of every passage that holds a term.

Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009); the weight of a term
is log(1 + (N - n + 0.5) / (n + 0.5)), never negative, as Lucene has it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

K1: Final = 1.5
B: Final = 0.75


@dataclass(frozen=True, slots=True)
class Block:
    """Postings of one term in one segment."""

    passages: npt.NDArray[np.uint16]
    times: npt.NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        return self.passages.nbytes + self.times.nbytes + 200


@dataclass(frozen=True, slots=True)
class View:
    """A segment as a search sees it. `live` is None where nothing in it has died."""

    segment_id: int
    lengths: npt.NDArray[np.float32]
    live: npt.NDArray[np.bool_] | None
    starts: npt.NDArray[np.int64]  # first passage of each part
    snapshots: Sequence[str]  # snapshot of each part
    count: int  # live passages
    total: float  # sum of their lengths


@dataclass(frozen=True, slots=True)
class Candidate:
    snapshot_id: str
    ordinal: int
    score: float


def best(
    views: Sequence[View],
    blocks: Mapping[tuple[int, str], Block],
    query: Mapping[str, int],
    limit: int,
) -> list[Candidate]:
    """The `limit` best passages. `query`: how often each term was asked for."""
    count = sum(view.count for view in views)
    if not count:
        return []
    mean = sum(view.total for view in views) / count or 1.0
    weights = _weights(views, blocks, query, count)
    scores: list[npt.NDArray[np.float32]] = []
    for view in views:
        norm = np.float32(K1 * (1 - B)) + np.float32(K1 * B / mean) * view.lengths
        score = np.zeros(len(view.lengths), np.float32)
        for term, weight in weights.items():
            block = blocks.get((view.segment_id, term))
            if block is not None:
                times = block.times
                score[block.passages] += weight * (times / (times + norm[block.passages]))
        if view.live is not None:
            score *= view.live
        scores.append(score)
    return _top(views, scores, limit)


def _weights(
    views: Sequence[View],
    blocks: Mapping[tuple[int, str], Block],
    query: Mapping[str, int],
    count: int,
) -> dict[str, np.float32]:
    out: dict[str, np.float32] = {}
    for term, asked in query.items():
        holding = 0
        for view in views:
            block = blocks.get((view.segment_id, term))
            if block is None:
                continue
            live = view.live
            holding += len(block.passages) if live is None else int(live[block.passages].sum())
        if holding:
            rarity = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
            out[term] = np.float32(asked * rarity * (K1 + 1))
    return out


def _top(
    views: Sequence[View], scores: Sequence[npt.NDArray[np.float32]], limit: int
) -> list[Candidate]:
    """Ties are in the order of segments and passages, so that equal searches agree."""
    flat = np.concatenate(scores)
    if len(flat) > limit:
        floor = np.partition(flat, -limit)[-limit]
        found = np.flatnonzero(flat >= max(floor, np.float32(1e-9)))
    else:
        found = np.flatnonzero(flat > 0)
    found = found[np.argsort(-flat[found], kind="stable")][:limit]
    offsets = np.cumsum([0, *(len(score) for score in scores)])
    out: list[Candidate] = []
    for at in found.tolist():
        place = int(np.searchsorted(offsets, at, "right")) - 1
        view, local = views[place], at - int(offsets[place])
        part = int(np.searchsorted(view.starts, local, "right")) - 1
        ordinal = local - int(view.starts[part])
        out.append(Candidate(view.snapshots[part], ordinal, float(flat[at])))
    return out
