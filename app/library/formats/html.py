"""HTML to blocks: the main text of a page, without its menus, scripts and footers."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from app.library.formats.html_blocks import Read, read_blocks
from app.library.formats.parsed import Block, Parsed, clean, one_line
from app.library.formats.tags import shallow

_DATE: Final = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9])(?![0-9])")
_DATE_METAS: Final = (
    'meta[property="article:published_time"]',
    'meta[property="article:modified_time"]',
    'meta[itemprop="datePublished"]',
    'meta[name="dcterms.date"]',
    'meta[name="dc.date"]',
    'meta[name="date"]',
)


def parse_html(markup: str) -> Parsed:
    """Title, date and blocks of a page. Blocks are empty where the page has no text."""
    tree = LexborHTMLParser(shallow(markup))
    body = tree.body
    if body is None:
        return Parsed("", ())
    read = _without_menus(_main(body)) or read_blocks(body, everything=True)
    blocks = tuple(item.block for item in read)
    return Parsed(_title(tree, blocks), blocks, _date(tree))


def _main(body: LexborNode) -> list[Read]:
    """The one element that holds most of the text, where the page marks one; else all of it."""
    whole = read_blocks(body)
    for query in ("main", "[role=main]", "article"):
        found = body.css(query)
        if len(found) == 1:
            inside = read_blocks(found[0])
            if _length(inside) * 3 >= _length(whole):
                return inside
    return whole


def _length(read: list[Read]) -> int:
    return sum(len(item.block.text) for item in read)


def _without_menus(read: list[Read]) -> list[Read]:
    """Drops runs of three and more short blocks that are links, where other text remains."""
    linked = [item.linked > 0.7 and len(item.block.text) < 80 for item in read]
    keep = [True] * len(read)
    start = 0
    for at in range(len(read) + 1):
        if at == len(read) or not linked[at]:
            if at - start >= 3:
                keep[start:at] = [False] * (at - start)
            start = at + 1
    left = [item for item, kept in zip(read, keep, strict=True) if kept]
    return left if _length(left) >= 200 else read


def _title(tree: LexborHTMLParser, blocks: tuple[Block, ...]) -> str:
    """The page's own heading where its title repeats it, else its title, else a heading."""
    node = tree.css_first("title")
    title = one_line(clean(node.text())) if node is not None else ""
    for block in blocks:
        if block.level == 1 and (not title or block.text.lower() in title.lower()):
            return block.text[:300]
    return (title or next((b.text for b in blocks if b.level), ""))[:300]


def _date(tree: LexborHTMLParser) -> str | None:
    for query in _DATE_METAS:
        node = tree.css_first(query)
        match = _DATE.search(node.attributes.get("content") or "") if node is not None else None
        if match:
            return match[1]
    node = tree.css_first("article time[datetime], main time[datetime], time[datetime]")
    match = _DATE.search(node.attributes.get("datetime") or "") if node is not None else None
    return match[1] if match else None
