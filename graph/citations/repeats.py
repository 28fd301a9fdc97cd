"""Paragraphs and sentences that were written before."""

import re
from collections.abc import Iterable
from typing import Final

from graph.citations.blocks import parse
from graph.citations.inert import readable
from graph.citations.marks import plain
from graph.text.words import terms

_PRINTED: Final = re.compile(r"\[(?:[Ss]?\d+(?:\s*,\s*)?)+\]")
_SHORT: Final = 20  # letters and digits under which equal paragraphs may be meant
_SHORT_SENTENCE: Final = 12
_ALIKE: Final = 0.9  # of all terms of both shared: reworded by a comma
_FEW: Final = 6  # terms under which alike means little


class Repeats:
    """What stands so far: paragraphs of this section and of earlier ones, sentences of this."""

    def __init__(self, earlier: Iterable[str]) -> None:
        self._paragraphs: set[str] = set()
        self._terms: list[frozenset[str]] = []
        self._sentences: set[str] = set()
        for markdown in earlier:
            for block in parse(readable(markdown)):
                if block.kind not in ("heading", "code", "table"):
                    self.add(block.text)

    def add(self, paragraph: str) -> None:
        key = _key(paragraph)
        if len(key) >= _SHORT:
            self._paragraphs.add(key)
            self._terms.append(_terms(paragraph))

    def has(self, paragraph: str) -> bool:
        """Does the paragraph stand already, word for word or nearly so?"""
        key = _key(paragraph)
        if len(key) < _SHORT:
            return False
        if key in self._paragraphs:
            return True
        own = _terms(paragraph)
        return len(own) >= _FEW and any(
            len(own & other) >= _ALIKE * len(own | other) for other in self._terms
        )

    def said(self, sentence: str) -> bool:
        """Does this section hold the very sentence? Remembers it."""
        key = _key(sentence)
        if len(key) < _SHORT_SENTENCE:
            return False
        known = key in self._sentences
        self._sentences.add(key)
        return known


def _bare(text: str) -> str:
    return _PRINTED.sub("", plain(text))


def _key(text: str) -> str:
    return "".join(c for c in _bare(text).casefold() if c.isalnum())


def _terms(text: str) -> frozenset[str]:
    # Figures make the difference between two sentences of one pattern: they count by themselves.
    bare = _bare(text)
    return frozenset(terms(bare)) | frozenset(re.findall(r"\d+(?:[.,]\d+)*", bare))
