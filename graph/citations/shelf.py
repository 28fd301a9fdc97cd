"""`Shelf`: the evidence of a section, ready to find the span that a sentence rests on."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from graph.citations.figures import Figure, figures, missing, stated
from graph.citations.marks import plain
from graph.reasoner import Evidence
from graph.text.sentences import blocks, spans
from graph.text.words import terms

_WINDOW: Final = 3  # sentences of the longest span that is looked for
_LENGTH_COST: Final = 0.07  # what one more sentence has to add in containment
_FIGURE_WEIGHT: Final = 0.5
_VERBATIM: Final = 12  # letters and digits under which equal text may be chance
_CLOSERS: Final = re.compile("[.!?。！？…;；]?[\"'”’」』》)）\\]*_`]*[.!?。！？…]?")


@dataclass(frozen=True)
class Claim:
    """A sentence of the writer, without its marks."""

    text: str

    @cached_property
    def flat(self) -> str:
        return _flat(self.text)[0]

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(terms(self.text))

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        return figures(self.text)

    @classmethod
    def of(cls, marked: str) -> "Claim":
        return cls(plain(marked).replace("\\<", "<").strip())


@dataclass(frozen=True)
class Piece:
    """One evidence passage with its sentences; offsets are local to the passage."""

    evidence: Evidence

    @cached_property
    def units(self) -> list[tuple[int, int]]:
        """Sentences; headings, table rows and lines of code count as one each."""
        return list(units(self.evidence.text))

    @cached_property
    def unit_terms(self) -> list[frozenset[str]]:
        return [frozenset(terms(self.evidence.text[a:b])) for a, b in self.units]

    @cached_property
    def flat(self) -> tuple[str, list[int]]:
        return _flat(self.evidence.text)


@dataclass(frozen=True, slots=True)
class Span:
    """`piece.evidence.text[start:end]`, the units [first, last], and how well it fits."""

    piece: Piece
    start: int
    end: int
    first: int
    last: int
    score: float
    verbatim: bool = False

    @property
    def quote(self) -> str:
        return self.piece.evidence.text[self.start : self.end]

    def widened(self, by: int) -> "Span":
        """The span with up to `by` neighbouring sentences on each side."""
        units = self.piece.units
        first, last = max(0, self.first - by), min(len(units) - 1, self.last + by)
        start, end = min(self.start, units[first][0]), max(self.end, units[last][1])
        return Span(self.piece, start, end, first, last, self.score)


class Shelf:
    """Passages by source number. Passages without text are not there."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._pieces: dict[int, list[Piece]] = {}
        for item in evidence:
            if item.text.strip():
                self._pieces.setdefault(item.n, []).append(Piece(item))
        self.numbers = tuple(self._pieces)

    def __contains__(self, n: int) -> bool:
        return n in self._pieces

    @cached_property
    def literal(self) -> str:
        """All evidence as one text, for questions of the kind: does it say just this?"""
        return "\n".join(p.evidence.text for pieces in self._pieces.values() for p in pieces)

    def find(self, claim: Claim, n: int) -> Span:
        """The best span of source `n`: verbatim if there is one, else by shared words."""
        pieces = self._pieces[n]
        for piece in pieces:
            span = _verbatim(claim, piece)
            if span:
                return span
        best = [_closest(claim, piece) for piece in pieces]
        return max(best, key=lambda span: span.score)

    def holds(self, n: int, flat: str) -> bool:
        """Does the source hold these letters and digits in one run?"""
        return any(flat in piece.flat[0] for piece in self._pieces[n])

    def says(self, n: int, word: str) -> bool:
        """Does the source, or its title, hold this word? Case does not matter."""
        return any(
            word in p.evidence.text.casefold() or word in p.evidence.title.casefold()
            for p in self._pieces[n]
        )


def containment(claim: Claim, texts: Sequence[str]) -> float:
    """The share of the claim's terms that the texts hold between them, 0 to 1."""
    if not claim.terms:
        return 0.0
    held = claim.terms & frozenset().union(*(terms(text) for text in texts))
    return len(held) / len(claim.terms)


def lacks(claim: Claim, texts: Sequence[str]) -> list[Figure]:
    """Figures of the claim that the texts do not state."""
    return missing(claim.figures, texts)


def _verbatim(claim: Claim, piece: Piece) -> Span | None:
    flat, places = piece.flat
    at = flat.find(claim.flat) if len(claim.flat) >= _VERBATIM else -1
    if at < 0:
        return None
    text = piece.evidence.text
    start, end = places[at], places[at + len(claim.flat) - 1] + 1
    if lacks(claim, [text[start:end]]):  # 1.5 and 15 look the same without their signs
        return None
    closers = _CLOSERS.match(text, end)
    end = closers.end() if closers else end
    starts = [unit[0] for unit in piece.units]
    first = max(0, bisect_right(starts, start) - 1)
    last = max(first, bisect_right(starts, end - 1) - 1)
    return Span(piece, start, end, first, last, 2.0, verbatim=True)


def _closest(claim: Claim, piece: Piece) -> Span:
    text = piece.evidence.text
    size = len(claim.terms) or 1
    shared = [claim.terms & unit for unit in piece.unit_terms]
    held: list[set[int]] = [set() for _ in piece.units]
    for place, (a, b) in enumerate(piece.units):
        if claim.figures:
            says = stated(text[a:b])
            held[place] = {i for i, figure in enumerate(claim.figures) if says.holds(figure)}
    best = (-1.0, 0, 0)
    for first in range(len(piece.units)):
        words: set[str] = set()
        found: set[int] = set()
        for last in range(first, min(first + _WINDOW, len(piece.units))):
            words |= shared[last]
            found |= held[last]
            score = len(words) / size - _LENGTH_COST * (last - first)
            if claim.figures:
                score += _FIGURE_WEIGHT * len(found) / len(claim.figures)
            if score > best[0] + 1e-9:
                best = (score, first, last)
    score, first, last = best
    return Span(piece, piece.units[first][0], piece.units[last][1], first, last, score)


def units(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each sentence, heading, table row and line of code, in order."""
    found = False
    for block in blocks(text):
        if block.kind in ("heading", "code", "table"):
            line = text[block.start : block.end].strip()
            inner = [(text.index(line, block.start), len(line))] if line else []
            parts = [(start, start + length) for start, length in inner]
        else:
            parts = list(spans(text, block.start, block.end))
        found = found or bool(parts)
        yield from parts
    if not found and text.strip():
        line = text.strip()
        yield text.index(line), text.index(line) + len(line)


def _flat(text: str) -> tuple[str, list[int]]:
    """Letters and digits alone, lower case, and where in `text` each one stands."""
    chars: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char.isalnum():
            low = char.lower()
            chars.append(low if len(low) == 1 else char)
            places.append(place)
    return "".join(chars), places
