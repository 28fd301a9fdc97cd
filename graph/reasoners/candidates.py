"""Sentences that may be quoted, and how much each says on a question."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.reasoner import Evidence
from graph.text.clean import one_line
from graph.text.language import is_unspaced
from graph.text.sentences import sentences
from graph.text.words import terms

_MARK: Final = re.compile(r"[\[【(（]\s*[Ss]\d+\s*[\]】)）]")
_BLOCK_START: Final = re.compile(r"(?:[#>|+*-]|\d{1,3}[.)])\s|[|`~]{3}|[<{}$/\\\[]")
_FOOTNOTE: Final = re.compile(r"\[(?:\d{1,3}|citation needed|edit|note \d+)\]|〔\d+〕")
_ENDS: Final = re.compile(r"[.!?。！？…][\"'”’」』）)\]*_`]*$")
# Lines of a list or of code that were taken for one sentence.
_RUN_ON: Final = re.compile(r"[^\s.,;:，。；：、-]\s*\n\s*[A-Z0-9{}$<`]")
_ADDRESS: Final = re.compile(r"https?://")
_ASKS: Final = re.compile(r"[?？][\"'”’」』）)*_]*$")
_DANGLES: Final = re.compile(
    r"(?:it|its|this|that|these|those|they|their|them|he|she|his|her|such|both|then|but|however|and"
    r"|so|or|also|thus|therefore|instead|otherwise|besides|moreover|furthermore|here|there)\b"
    r"|only then\b|(?:if|when|while|because|as|after|before|once|until|in|for|with|from) "
    r"(?:it|its|this|these|those|they|their|such)\b"
    r"|(?:它|这|那|其|他|她|该|此|但|因此|所以|而且|并且|然而|同时|另外|此外|之后|随后|然后|接着)",
    re.IGNORECASE,
)
_PAIRS: Final = (("(", ")"), ("[", "]"), ("“", "”"), ("（", "）"), ("「", "」"))
_LETTER: Final = re.compile(r"[^\W\d_]")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORDS: Final = (5, 60)
_SIGNS: Final = (8, 220)  # characters, where words are not spaced

# What a sentence gets from around it, as shares of what its own words give.
_HEADING: Final = 0.5  # a word of its heading, against one of its own
_TITLE: Final = 0.15  # a word of its document's title
_LED: Final = 0.6  # a sentence that only its heading ties to the question
_RARE: Final = 0.7  # how much rarity counts against the mere word
_PASSAGE: Final = 1.0
_PAIR: Final = 1.0  # all pairs of the question in a sentence
_FIRST: Final = 0.08
_PINNED: Final = 2.0
_FOREIGN: Final = 0.3  # a sentence in another script than the report's
_SPOKEN: Final = 0.25  # share of the words asked for that must occur at all
_K1: Final = 1.2
_B: Final = 0.8
Pair = frozenset[str]  # two words that stand beside each other
_NEAR: Final = 2  # how many words further still is beside


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of `piece` (index of the evidence). `text` is as shown: one line, without
    footnote marks. `order` counts the sentences of its block that may be quoted."""

    n: int
    piece: int
    block: int
    order: int
    start: int  # in the snapshot
    text: str
    words: frozenset[str]
    counts: Mapping[str, int]
    heading: frozenset[str]
    title: frozenset[str]
    label: str  # the heading itself, case folded
    pinned: bool
    pairs: frozenset[Pair]
    dangles: bool
    foreign: bool
    score: float = 0.0


def candidates(evidence: Sequence[Evidence], language: str) -> list[Candidate]:
    """All quotable sentences of the evidence, in its order; the same words only once."""
    out: list[Candidate] = []
    seen: set[str] = set()
    wide = is_unspaced(language)
    for index, piece in enumerate(evidence):
        title = frozenset(terms(piece.title))
        order: Counter[int] = Counter()
        for found in sentences(piece.text, language):
            raw = piece.text[found.start : found.end]
            text = shown(raw)
            order[found.block] += 1
            if text in seen or _RUN_ON.search(raw) or not quotable(text):
                continue
            seen.add(text)
            heading = found.heading or piece.heading
            words = terms(text)
            counts = Counter(words)
            out.append(
                Candidate(
                    n=piece.n,
                    piece=index,
                    block=found.block,
                    order=order[found.block],
                    start=piece.ref.start + found.start,
                    text=text,
                    words=frozenset(counts),
                    counts=counts,
                    heading=frozenset(terms(heading)),
                    title=title,
                    label=heading.casefold(),
                    dangles=bool(_DANGLES.match(text)),
                    pinned=piece.pinned,
                    pairs=beside(words),
                    foreign=wide != (len(_UNSPACED.findall(text)) > len(text) / 5),
                )
            )
    return out


def beside(words: Sequence[str]) -> frozenset[Pair]:
    """The pairs of words that stand next to each other, or nearly so."""
    return frozenset(
        frozenset((word, other))
        for place, word in enumerate(words)
        for other in words[place + 1 : place + 1 + _NEAR]
        if word != other
    )


def shown(text: str) -> str:
    """A sentence as the report prints it."""
    return one_line(_FOOTNOTE.sub("", text), 2_000)


def quotable(text: str) -> bool:
    """Whether a sentence reads well on its own: whole, neither too short nor too long, prose."""
    if _MARK.search(text) or _BLOCK_START.match(text) or text[0].islower():
        return False
    if any(text.count(a) != text.count(b) for a, b in _PAIRS) or text.count("`") % 2:
        return False
    bare = text.replace(" ", "")
    if len(_LETTER.findall(bare)) < 0.6 * len(bare):
        return False
    signs = len(_UNSPACED.findall(text))
    size, (low, high) = (signs, _SIGNS) if signs > len(text) / 3 else (len(text.split()), _WORDS)
    return low <= size <= high and bool(_ENDS.search(text))


class Scale:
    """Weighs sentences by the words asked for. A word's weight is its rarity among them."""

    def __init__(
        self, asked: Mapping[str, float], among: Sequence[Candidate], pairs: Collection[Pair] = ()
    ) -> None:
        """`pairs`: words that stand beside each other in the question."""
        frequency = Counter(word for item in among for word in item.words)
        count = len(among)
        rarity = {
            word: math.log(1 + (count - frequency[word] + 0.5) / (frequency[word] + 0.5))
            for word in asked
            if frequency[word]
        }
        # The texts were found by these very words: rarity among them counts only in part.
        rarest = max(rarity.values(), default=0.0) or 1.0
        self._weights = {w: asked[w] * (1 - _RARE + _RARE * rarity[w] / rarest) for w in rarity}
        if len(self._weights) < _SPOKEN * len(asked):
            self._weights = {}  # the texts hardly know what is asked: nothing here answers it
        self._total = sum(self._weights.values()) or 1.0
        self._needed = 2 if len(self._weights) > 2 else 1
        self._mean = sum(sum(item.counts.values()) for item in among) / (count or 1) or 1.0
        self._pairs = {pair for pair in pairs if self._weights.keys() >= set(pair)}
        self._passages = self._by_passage(among)

    def score(self, item: Candidate) -> float:
        """0 where a sentence does not speak of what is asked."""
        own = self._weights.keys() & item.words
        above = self._weights.keys() & item.heading
        hits = own | above | (self._weights.keys() & item.title)
        # Under a heading that is about the question, a sentence need not repeat its words.
        led = 2 * len(above) >= len(item.heading) > 0
        if not (own or led) or len(hits) < self._needed:
            return 0.0
        length = _K1 * (1 - _B + _B * sum(item.counts.values()) / self._mean)
        score = 0.0
        for word in hits:
            count = item.counts.get(word, 0) + _HEADING * (word in above)
            count += _TITLE * (word in item.title)
            score += self._weights[word] * count * (_K1 + 1) / (count + length)
        score *= 0.5 + self.covered(own)
        score *= 1 + _PASSAGE * self._passages[item.piece]
        score *= 1 + _PAIR * len(self._pairs & item.pairs) / (len(self._pairs) or 1)
        score *= (1 + _FIRST * (item.order == 1)) * (1 if own else _LED)
        score *= (_PINNED if item.pinned else 1) * (_FOREIGN if item.foreign else 1)
        score *= 0.5 if _ADDRESS.search(item.text) else 1
        return score * (0.3 if _ASKS.search(item.text) else 1) * (0.85 if item.dangles else 1)

    def covered(self, words: Iterable[str]) -> float:
        """The share of what is asked that these words hold; 0..1."""
        return sum(self._weights.get(word, 0.0) for word in words) / self._total

    def _by_passage(self, among: Sequence[Candidate]) -> dict[int, float]:
        """How much of what is asked each passage holds as a whole, against the best; 0..1."""
        words: dict[int, set[str]] = {}
        for item in among:
            words.setdefault(item.piece, set()).update(item.words, item.heading, item.title)
        held = {piece: self.covered(found) for piece, found in words.items()}
        best = max(held.values(), default=0.0) or 1.0
        return {piece: share / best for piece, share in held.items()}


def likeness(one: Candidate, other: Candidate) -> float:
    """Share of words in common, of the shorter sentence; 0..1."""
    least = min(len(one.words), len(other.words))
    return len(one.words & other.words) / least if least else 0.0
