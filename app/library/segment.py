"""Segments: immutable pieces of the inverted index, built from texts or from one another.

A posting is 3 bytes: number of the passage in its segment (uint16, little-endian) and how
often the term occurs in it (uint8, 255 means that and more).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from graph.text.words import terms

LARGEST: Final = 65_535  # passages: their numbers fit 16 bits
RECORD: Final = np.dtype([("passage", "<u2"), ("times", "u1")])
_TIMES: Final = [bytes([times]) for times in range(256)]
Records = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Part:
    """Passages first .. first + count - 1 of a segment: those of one snapshot, in order."""

    first: int
    count: int
    snapshot_id: str


@dataclass(slots=True)
class SegmentBuilder:
    """Takes snapshots one by one; `postings` then has the bytes of each term."""

    lengths: list[int] = field(default_factory=list[int])
    parts: list[Part] = field(default_factory=list[Part])
    _postings: dict[str, bytearray] = field(default_factory=dict[str, bytearray])

    def add(self, snapshot_id: str, passages: Sequence[Mapping[str, int]]) -> None:
        """`passages`: how often each term occurs in each."""
        self.parts.append(Part(len(self.lengths), len(passages), snapshot_id))
        held = self._postings
        for counts in passages:
            number = len(self.lengths).to_bytes(2, "little")
            for term, times in counts.items():
                posting = number + _TIMES[min(times, 255)]
                if term in held:
                    held[term] += posting
                else:
                    held[term] = bytearray(posting)
            self.lengths.append(min(sum(counts.values()), LARGEST))

    def postings(self) -> dict[str, bytes]:
        return {term: bytes(data) for term, data in self._postings.items()}


def count_terms(text: str, context: str) -> Counter[str]:
    """What a passage is found by: its own words, and those of the headings above it once more."""
    counts = Counter(terms(text))
    counts.update(set(terms(context)))
    return counts


def pack_lengths(lengths: Sequence[int]) -> bytes:
    return np.asarray(lengths, "<u2").tobytes()


@dataclass(frozen=True, slots=True)
class Source:
    """A segment that is merged into a new one: its postings are sorted by term."""

    lengths: bytes
    live: Sequence[Part]
    terms: Sequence[str]
    data: Sequence[bytes]


def merge(sources: Sequence[Source]) -> tuple[bytes, list[Part], dict[str, bytes]]:
    """Lengths, parts and postings of one segment that holds what is alive in all of them."""
    lengths: list[npt.NDArray[np.uint16]] = []
    parts: list[Part] = []
    records: list[Records] = []
    owners: list[npt.NDArray[np.int64]] = []  # number of each record's term
    numbers: dict[str, int] = {}
    size = 0
    for source in sources:
        old = np.frombuffer(source.lengths, "<u2")
        place = np.full(len(old), -1, np.int64)  # of each passage in the new segment
        for part in source.live:
            stop = part.first + part.count
            place[part.first : stop] = np.arange(size, size + part.count)
            lengths.append(old[part.first : stop])
            parts.append(Part(size, part.count, part.snapshot_id))
            size += part.count
        held = np.frombuffer(b"".join(source.data), RECORD)
        counts = [len(data) // RECORD.itemsize for data in source.data]
        ids = [numbers.setdefault(term, len(numbers)) for term in source.terms]
        owner = np.repeat(np.asarray(ids, np.int64), counts)
        moved = place[held["passage"]]
        kept = moved >= 0
        fresh = np.empty(int(kept.sum()), RECORD)
        fresh["passage"] = moved[kept]
        fresh["times"] = held["times"][kept]
        records.append(fresh)
        owners.append(owner[kept])
    return _packed(lengths), parts, _by_term(records, owners, numbers)


def _packed(lengths: Sequence[npt.NDArray[np.uint16]]) -> bytes:
    return np.concatenate(lengths).astype("<u2").tobytes() if lengths else b""


def _by_term(
    records: Sequence[Records], owners: Sequence[npt.NDArray[np.int64]], numbers: Mapping[str, int]
) -> dict[str, bytes]:
    if not records:
        return {}
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")  # passages of a term stay in rising order
    data = np.concatenate(records)[order].tobytes()
    ends = np.cumsum(np.bincount(owner, minlength=len(numbers))) * RECORD.itemsize
    out: dict[str, bytes] = {}
    start = 0
    for term, end in zip(numbers, ends.tolist(), strict=True):
        if end > start:
            out[term] = data[start:end]
        start = end
    return out
