"""Markdown to blocks of plain text: what a reader sees, without the marks."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.library.formats.html import parse_html
from app.library.formats.parsed import Block, Parsed, clean, one_line

_FRONT: Final = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"^(title|date)[ \t]*:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
_DATE: Final = re.compile(r"^([0-9]{4}-[01][0-9]-[0-3][0-9])")
_parser: Final = MarkdownIt("commonmark").enable("table")


def parse_markdown(text: str) -> Parsed:
    """Title and date from the front matter, else the first heading; headings keep their level."""
    text = clean(text)
    fields: dict[str, str] = {}
    front = _FRONT.match(text)
    if front:
        fields = {name.lower(): value.strip() for name, value in _FIELD.findall(front[1])}
        text = text[front.end() :]
    blocks = _blocks(_parser.parse(text))
    title = fields.get("title", "").strip("\"' ")
    if not title:
        headings = [b for b in blocks if b.level]
        title = next((b.text for b in headings if b.level == 1), "")
        title = title or next((b.text for b in headings), "")
    date = _DATE.match(fields.get("date", "").strip("\"'"))
    return Parsed(title[:300], tuple(blocks), date[1] if date else None)


def _blocks(tokens: list[Token]) -> list[Block]:
    out: list[Block] = []
    level = 0
    item = False  # the next paragraph begins a list item
    row: list[str] | None = None  # cells of the table row being read
    for token in tokens:
        match token.type:
            case "heading_open":
                level = int(token.tag[1])
            case "heading_close":
                level = 0
            case "list_item_open":
                item = True
            case "tr_open":
                row = []
            case "tr_close":
                out.append(Block(" | ".join(row or ()), tight=True))
                row = None
            case "inline" if row is not None:
                row.append(one_line(_inline(token)))
            case "inline":
                out.append(Block(one_line(_inline(token)), level, tight=item))
                item = False
            case "fence" | "code_block":
                out.append(Block(_without_gaps(token.content)))
            case "html_block":
                out += parse_html(token.content).blocks
            case _:
                pass
    return [block for block in out if block.text.strip(" |")]


def _inline(token: Token) -> str:
    out: list[str] = []
    for child in token.children or ():
        match child.type:
            case "text" | "code_inline":
                out.append(child.content)
            case "softbreak" | "hardbreak":
                out.append("\n")
            case "image":
                out.append(child.content)
            case _:
                pass
    return "".join(out)


def _without_gaps(code: str) -> str:
    return "\n".join(line.rstrip() for line in code.split("\n") if line.strip())
