"""Plain text to blocks: paragraphs between blank lines, hard-wrapped lines joined again."""

import re
from typing import Final

from app.library.formats.parsed import Block, Parsed, clean, one_line

_GAP: Final = re.compile(r"\n[ \t]*\n\s*")
_RULE: Final = re.compile(r"^([=\-~^*#])\1{2,}$")
_LIST: Final = re.compile(r"^\s*(?:[-*+•·]|[0-9]{1,3}[.)])\s")


def parse_plain(text: str) -> Parsed:
    """The title is an underlined first heading (reStructuredText), if there is one."""
    blocks: list[Block] = []
    marks: list[str] = []  # underline marks in order of first use: their heading level
    for part in _GAP.split(clean(text).expandtabs(4)):
        lines = [line.rstrip() for line in part.split("\n") if line.strip()]
        while lines and _RULE.match(lines[0]):
            lines.pop(0)
        if len(lines) > 1 and (rule := _RULE.match(lines[1])) and len(lines[1]) + 2 > len(lines[0]):
            if rule[1] not in marks:
                marks.append(rule[1])
            blocks.append(Block(lines[0].strip(), min(6, marks.index(rule[1]) + 1)))
            lines = lines[2:]
        if lines:
            blocks.append(Block(one_line("\n".join(lines)) if _wrapped(lines) else _kept(lines)))
    title = blocks[0].text[:300] if blocks and blocks[0].level else ""
    return Parsed(title, tuple(blocks))


def _wrapped(lines: list[str]) -> bool:
    """Lines of one paragraph, broken by an editor: all but the last about equally long."""
    if len(lines) < 2 or any(_LIST.match(line) for line in lines):
        return len(lines) < 2
    longest = max(map(len, lines))
    return 30 <= longest <= 120 and min(map(len, lines[:-1])) * 2 >= longest


def _kept(lines: list[str]) -> str:
    return "\n".join(lines)
