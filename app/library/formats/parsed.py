"""What every reader of a file format returns: blocks of plain text under headings.

`lay_out` joins the blocks into the one text that is stored; all offsets point into it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from registry.events import scrub

LONGEST_TEXT: Final = 10_000_000  # characters of one document; more is data, not prose
_BREAKS: Final = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_INVISIBLE: Final = re.compile("[\x01-\x08\x0e-\x1f\x7f\xad\ufeff\u200b\u2060]")
_WIDE: Final = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_WIDE_GAP: Final = re.compile(rf"(?<=[{_WIDE}])[^\S\n]*\n\s*(?=[{_WIDE}])")


class Unreadable(Exception):
    """A file that gives no text; `reason` is one line for the person who put it there."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item, table row or piece of code; no blank line inside."""

    text: str
    level: int = 0  # 1 to 6 for a heading
    tight: bool = False  # stands on the line after the block before it


@dataclass(frozen=True, slots=True)
class Parsed:
    title: str  # "" where the file gives none
    blocks: tuple[Block, ...]
    date: str | None = None  # ISO date


@dataclass(frozen=True, slots=True)
class Span:
    """A block in the laid out text: `text[start:end]`."""

    start: int
    end: int
    level: int


@dataclass(frozen=True, slots=True)
class Laid:
    text: str
    spans: tuple[Span, ...]


def clean(text: str) -> str:
    """Text that can be stored and shown: no NUL, no lone surrogate, LF for every line end."""
    return _INVISIBLE.sub("", _BREAKS.sub("\n", scrub(text)))


def one_line(text: str) -> str:
    """Clean prose: lines joined by a space, or by nothing between wide characters."""
    if not text.isascii():
        text = _WIDE_GAP.sub("", text)
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(clean(line).split())


def lay_out(blocks: Iterable[Block]) -> Laid:
    """Joins blocks by a blank line, or a line end where they are tight. Raises `Unreadable`."""
    parts: list[str] = []
    spans: list[Span] = []
    at = 0
    for block in blocks:
        text = block.text.strip("\n")
        if not text.strip():
            continue
        if parts:
            gap = "\n" if block.tight else "\n\n"
            parts.append(gap)
            at += len(gap)
        parts.append(text)
        spans.append(Span(at, at + len(text), block.level))
        at += len(text)
    if not spans:
        raise Unreadable("no text in it")
    if at > LONGEST_TEXT:
        raise Unreadable(f"{at:,} characters of text, over the limit of {LONGEST_TEXT:,}")
    return Laid("".join(parts), tuple(spans))
