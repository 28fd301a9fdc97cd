"""Prose of a Markdown or plain text, sentence by sentence, with exact code point offsets.

`text[s.start:s.end]` is the sentence as it stands, line breaks included. Headings, code,
tables and markup are no prose; list items are, each on its own.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import sentencex

BlockKind = Literal["heading", "code", "table", "item", "quote", "paragraph"]

_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_UNDERLINE: Final = re.compile(r"\s{0,3}(=+|-+)\s*$")
_ITEM: Final = re.compile(
    r"\s*(?:[-*+•]|\d{1,3}[.)]|[（(]?[一二三四五六七八九十]{1,3}[、）)])\s+(?:\[[ xX]\]\s+)?"
)
_QUOTE: Final = re.compile(r"\s{0,3}>\s?")
_RULE: Final = re.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*$")
_MARKUP: Final = re.compile(
    r"\s*<[!/a-zA-Z][^>]*>\s*$|\s*!?\[[^\]]*\]:\s|\s*!\[[^\]]*\]\([^)]*\)\s*$"
)
# The package ships no stubs.
_boundaries: Final[Callable[[str, str], list[dict[str, Any]]]] = sentencex.get_sentence_boundaries  # pyright: ignore[reportAttributeAccessIssue]
_WIDE: Final = 120  # characters; longer lines were not broken to fit a page
_SHORT: Final = 0.6  # of the width: a line that ends before it was ended on purpose
_LONGEST: Final = 200_000  # code points of one block; the rest is data


@dataclass(frozen=True, slots=True)
class Block:
    kind: BlockKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of `kind` block number `block`; `heading` is the text's last one before it."""

    start: int
    end: int
    kind: BlockKind
    block: int
    heading: str


def blocks(text: str) -> list[Block]:
    """The blocks of a text in order; offsets leave out list and heading markers."""
    out: list[Block] = []
    open_: Block | None = None
    fence = ""
    after_blank = True
    for start, end in _lines(text):
        line = text[start:end]
        mark = _FENCE.match(line)
        if fence or mark:
            open_ = _closed(out, open_)
            out.append(Block("code", start, end))
            if mark and (not fence or (mark[1].startswith(fence) and line.strip() == mark[1])):
                fence = "" if fence else mark[1]
            continue
        if not line.strip() or _RULE.match(line):
            open_ = _closed(out, open_)
            if open_ is None and _UNDERLINE.match(line) and line.strip():
                _headed(out, start)
            after_blank = True
            continue
        if open_ and open_.kind == "paragraph" and _UNDERLINE.match(line):
            out.append(Block("heading", open_.start, open_.end))
            open_, after_blank = None, True
            continue
        kind, skip = _kind(line, after_blank=after_blank, open_kind=open_.kind if open_ else None)
        if open_ and kind is None:
            open_ = Block(open_.kind, open_.start, end)
        else:
            _closed(out, open_)
            open_ = Block(kind or "paragraph", start + skip, end)
            if open_.kind in ("heading", "code", "table"):
                open_ = _closed(out, open_)
        after_blank = False
    _closed(out, open_)
    return out


def sentences(text: str, language: str = "en") -> list[Sentence]:
    """All sentences of the prose of `text`, in order, without outer white space."""
    out: list[Sentence] = []
    heading = ""
    for number, block in enumerate(blocks(text)):
        if block.kind == "heading":
            heading = text[block.start : block.end].strip().rstrip("#").strip()
        if block.kind in ("heading", "code", "table"):
            continue
        for start, end in spans(text, block.start, block.end, language):
            out.append(Sentence(start, end, block.kind, number, heading))
    return out


def spans(text: str, start: int, end: int, language: str = "en") -> Iterator[tuple[int, int]]:
    """(start, end) of each sentence within text[start:end], which is taken for prose."""
    for left, right in _flows(text, start, min(end, start + _LONGEST)):
        piece = text[left:right]
        # Same length, so that offsets stay: a broken line is no paragraph break.
        flat = piece.replace("\n", " ").replace("\r", " ")
        for found in _boundaries(language, flat):
            offset = int(found["start_index"])
            body = piece[offset : int(found["end_index"])]
            inner = body.strip()
            if inner:
                begin = left + offset + body.index(inner[0])
                yield begin, begin + len(inner)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _kind(line: str, *, after_blank: bool, open_kind: str | None) -> tuple[BlockKind | None, int]:
    """What a line begins, and how much of it is marker; None where it goes on."""
    if mark := _HEADING.match(line):
        return "heading", mark.end()
    if line.lstrip().startswith("|") or line.count("|") > 1 or _MARKUP.match(line):
        return "table", 0
    if mark := _ITEM.match(line):
        return "item", mark.end()
    if mark := _QUOTE.match(line):
        return (None if open_kind == "quote" else "quote"), mark.end()
    if after_blank and open_kind is None and (line.startswith(("    ", "\t"))):
        return "code", 0
    return None, len(line) - len(line.lstrip())


def _closed(out: list[Block], block: Block | None) -> None:
    if block is not None:
        out.append(block)


def _headed(out: list[Block], start: int) -> None:
    """A line of `---` right under a paragraph makes that a heading."""
    if out and out[-1].kind == "paragraph" and out[-1].end == start - 1:
        out[-1] = Block("heading", out[-1].start, out[-1].end)


def _flows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of lines that were one line before they were broken to fit a width.

    A break is meant where the line ends long before the width of its block.
    """
    lines = [(start + a, start + b) for a, b in _lines(text[start:end])]
    width = max((b - a for a, b in lines), default=0)
    left = start
    for (a, b), (c, _) in itertools.pairwise(lines):
        goes_on = text[c : c + 2].isspace()  # an indented line belongs to the one above
        if width > _WIDE or (b - a < _SHORT * width and not goes_on):
            yield left, b
            left = c
    yield left, end
