"""A section's Markdown as blocks that can be judged, changed and printed again.

What a cut-off answer leaves open is closed here: a fence without an end, a table whose last
row or separator is missing. Line breaks inside a paragraph become spaces.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

Kind = Literal["heading", "paragraph", "item", "quote", "table", "code"]

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*$")
_BARE_HEADING: Final = re.compile(r"^ {0,3}#{1,6}\s*$")
_UNDERLINE: Final = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
_RULE: Final = re.compile(r"^ {0,3}([-*_])(?:\s*\1){2,}\s*$")
_ITEM: Final = re.compile(r"^(\s*)([-*+•]|\d{1,3}[.)])\s+(?=\S)(.*)$")
_QUOTE: Final = re.compile(r"^ {0,3}>+\s?(.*)$")
_SEPARATOR: Final = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)*$")
_CELL: Final = re.compile(r"(?<!\\)\|")
_CJK: Final = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_STOP: Final = re.compile(r"[^.][.。！][\"'”’」』)）*_]*$")
_BOLD: Final = re.compile(r"^(\*\*|__)([^*_]{1,80}?)[:：]?\1[:：]?$")
_LONG_HEADING: Final = 120  # code points; a longer one is a sentence in disguise


@dataclass
class Block:
    """`text` is one line of inline Markdown; tables and code have head, rows and tail instead."""

    kind: Kind
    prefix: str = ""  # "## ", "- ", "  1. ", "> "
    text: str = ""
    head: list[str] = field(default_factory=list[str])
    rows: list[str] = field(default_factory=list[str])
    tail: list[str] = field(default_factory=list[str])


def parse(text: str) -> list[Block]:
    """The blocks of a Markdown text, in order."""
    out: list[Block] = []
    lines = text.split("\n")
    at = 0
    open_: Block | None = None  # a paragraph, item or quote that the next line may go on with
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line)
        if fence:
            block, at = _code(lines, at, fence)
            out.append(block)
            open_ = None
        elif _is_table(lines, at):
            block, at = _table(lines, at)
            out.append(block)
            open_ = None
        else:
            open_ = _line(out, open_, line)
            at += 1
    for block in out:
        bold = _BOLD.match(block.text) if block.kind == "paragraph" else None
        if bold and not _STOP.search(bold[2]):  # a heading in all but name
            block.kind, block.prefix, block.text = "heading", "### ", bold[2]
    return [block for block in out if block.text or block.rows or block.kind == "table"]


def _line(out: list[Block], open_: Block | None, line: str) -> Block | None:
    """Takes in one line that is neither code nor table; returns the block that stays open."""
    if not line.strip() or _BARE_HEADING.match(line):
        return None
    if open_ and open_.kind == "paragraph" and _UNDERLINE.match(line):
        open_.kind, open_.prefix = "heading", "# " if "=" in line else "## "
        return None
    if _RULE.match(line):
        return None
    return _opened(out, open_, line)


def _opened(out: list[Block], open_: Block | None, line: str) -> Block | None:
    heading, item, quote = _HEADING.match(line), _ITEM.match(line), _QUOTE.match(line)
    if heading:
        spoken = _STOP.search(heading[2]) or len(heading[2]) > _LONG_HEADING
        prefix = "" if spoken else f"{heading[1]} "
        out.append(Block("paragraph" if spoken else "heading", prefix, heading[2]))
        return None
    if item:
        bullet = "-" if item[2] == "•" else item[2]
        out.append(Block("item", f"{' ' * len(item[1])}{bullet} ", item[3].strip()))
        return out[-1]
    if quote and not (open_ and open_.kind == "quote"):
        out.append(Block("quote", "> ", quote[1].strip()))
        return out[-1]
    body = quote[1].strip() if quote else line.strip()
    if open_ is None:
        out.append(Block("paragraph", "", body))
        return out[-1]
    open_.text = _joined(open_.text, body)
    return open_


def cells(row: str) -> list[str]:
    """The cells of a table row, without the bars."""
    inner = row.strip().removeprefix("|")
    inner = inner.removesuffix("|") if not inner.endswith("\\|") else inner
    return [cell.strip() for cell in _CELL.split(inner)]


def row_of(parts: list[str]) -> str:
    return f"| {' | '.join(parts)} |"


def _code(lines: list[str], at: int, fence: re.Match[str]) -> tuple[Block, int]:
    body: list[str] = []
    at += 1
    while at < len(lines) and not re.match(rf"^ {{0,3}}{fence[1]}{fence[1][0]}*\s*$", lines[at]):
        body.append(lines[at])
        at += 1
    return Block("code", head=[f"{fence[1]}{fence[2]}"], rows=body, tail=[fence[1]]), at + 1


def _is_table(lines: list[str], at: int) -> bool:
    """A header with its separator; or rows in bars whose separator never came."""
    line = lines[at]
    after = lines[at + 1] if at + 1 < len(lines) else ""
    if "|" not in line or _ITEM.match(line):
        return False
    if _SEPARATOR.match(after) and "-" in after:
        return True
    return line.lstrip().startswith("|") and line.count("|") > 1


def _table(lines: list[str], at: int) -> tuple[Block, int]:
    header = cells(lines[at])
    rows: list[str] = []
    at += 1
    while at < len(lines) and "|" in lines[at] and lines[at].strip():
        if rows or not _SEPARATOR.match(lines[at]):
            found = cells(lines[at])
            rows.append(row_of(found + [""] * (len(header) - len(found))))
        at += 1
    if not rows and at < len(lines) and _SEPARATOR.match(lines[at]) and lines[at].strip():
        at += 1
    head = [row_of(header), row_of(["---"] * len(header))]
    return Block("table", head=head, rows=rows), at


def _joined(left: str, right: str) -> str:
    wide = left and right and _CJK.match(left[-1]) and _CJK.match(right[0])
    return f"{left}{'' if wide else ' '}{right}".strip()


def indents(prefixes: list[str]) -> Iterator[str]:
    """List markers whose parents may be gone: none is deeper than its list allows."""
    allowed = 0
    for prefix in prefixes:
        marker = prefix.lstrip(" ")
        depth = min(len(prefix) - len(marker), allowed)
        allowed = depth + len(marker)
        yield " " * depth + marker
