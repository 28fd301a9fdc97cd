"""Passages: pieces of a text that are long enough to rank and short enough to read.

Cut at block borders, and inside a long block at sentence ends. A heading that stands over a
passage is not in its text but counts for its rank.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.library.formats.parsed import Laid, Span
from graph.text.sentences import spans as sentence_spans

SMALLEST: Final = 80.0  # words; a passage below it takes in what follows
LARGEST: Final = 200.0
_SCRAP: Final = 25.0  # words; a section this short is not left alone
_WIDE: Final = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")
_WORD: Final = re.compile(r"[^\W_\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_HAN: Final = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Cut:
    """text[start:end] of the laid out text, under the headings `context`, one a line."""

    start: int
    end: int
    context: str
    heading: str = ""  # the nearest of them; not the document's title


def words_in(text: str) -> float:
    """Length in words; two characters of a script without spaces count as one.

    So do 12 characters without a break: encoded data is long, though it be one word.
    """
    if text.isascii():
        return max(len(text.split()), len(text) / 12)
    return max(len(_WORD.findall(text)) + len(_WIDE.findall(text)) / 2, len(text) / 12)


def cut(laid: Laid, title: str = "") -> list[Cut]:
    """Passages in order; never empty, never overlapping."""
    sections = list(_sections(laid))
    out = [c for span_list, head in sections for c in _fill(laid.text, span_list, (title, *head))]
    if out:
        return out
    # Headings alone: then they are the text.
    spans = [Span(s.start, s.end, 0) for s in laid.spans]
    return list(_fill(laid.text, spans, (title,)))


def _sections(laid: Laid) -> Iterator[tuple[list[Span], tuple[str, ...]]]:
    """Runs of blocks that belong together, with the headings above them."""
    path: list[tuple[int, str]] = []
    now: list[Span] = []
    head: tuple[str, ...] = ()
    size = 0.0
    for span in laid.spans:
        text = laid.text[span.start : span.end]
        if not span.level:
            now.append(span)
            size += words_in(text)
            continue
        if now and size >= _SCRAP:
            yield now, head
            now, size = [], 0.0
        path = [*(item for item in path if item[0] < span.level), (span.level, text)]
        if not now:
            head = tuple(text for _, text in path)
    if now:
        yield now, head


def _fill(text: str, spans: Sequence[Span], head: tuple[str, ...]) -> Iterator[Cut]:
    """Blocks joined up to `SMALLEST` words and no further than `LARGEST`."""
    context = "\n".join(dict.fromkeys(part for part in head if part))
    heading = head[-1] if len(head) > 1 else ""
    start, end, size = -1, -1, 0.0
    for left, right in _pieces(text, spans):
        length = words_in(text[left:right])
        if start >= 0 and (size >= SMALLEST or size + length > LARGEST):
            yield Cut(start, end, context, heading)
            start, size = -1, 0.0
        if start < 0:
            start = left
        end, size = right, size + length
    if start >= 0:
        yield Cut(start, end, context, heading)


def _pieces(text: str, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    for span in spans:
        length = words_in(text[span.start : span.end])
        if length <= LARGEST:
            yield span.start, span.end
        else:
            yield from _split(text, span.start, span.end, length)


def _split(text: str, start: int, end: int, length: float) -> Iterator[tuple[int, int]]:
    """A long block in pieces of about equal length, at sentence ends where it has any."""
    share = length / -(-length // ((SMALLEST + LARGEST) / 2))
    language = "zh" if _HAN.search(text, start, min(end, start + 200)) else "en"
    left, size = -1, 0.0
    right = start
    for a, b in sentence_spans(text, start, end, language):
        for c, d in _bounded(text, a, b):
            more = words_in(text[c:d])
            if left >= 0 and size + more / 2 > share:
                yield left, right
                left, size = -1, 0.0
            left = c if left < 0 else left
            right, size = d, size + more
    if left >= 0:
        yield left, right
    if right < end and text[right:end].strip():  # beyond what the sentence splitter looks at
        yield from _hard(text, right, end)


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if words_in(text[start:end]) <= LARGEST and end - start <= 4000:
        yield start, end
    else:
        yield from _hard(text, start, end)


def _hard(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Data, code, or a sentence without end: cut at white space near every 800 characters."""
    while start < end:
        right = min(end, start + 800)
        if right < end:
            gap = max(text.rfind("\n", start + 400, right), text.rfind(" ", start + 400, right))
            right = gap if gap > 0 else right
        piece = text[start:right]
        if piece.strip():
            left = start + len(piece) - len(piece.lstrip())
            yield left, start + len(piece.rstrip())
        start = right
