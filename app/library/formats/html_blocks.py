"""The walk over a page's tree that makes blocks of it, and what it passes over."""

import re
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborNode

from app.library.formats.parsed import Block, clean, one_line
from app.library.formats.tags import names

_SKIPPED: Final = names(
    "script style noscript template svg math iframe object embed canvas audio video nav footer"
    " aside button select textarea input option datalist dialog head title"
)
_SKIPPED_ROLES: Final = names(
    "navigation banner contentinfo search menu menubar dialog alertdialog complementary"
    " toolbar tablist"
)
_BLOCKS: Final = names(
    "html body main article section div p ul ol li dl dt dd table caption thead tbody tfoot tr"
    " blockquote pre figure figcaption header hgroup address form fieldset legend details summary"
    " center hr h1 h2 h3 h4 h5 h6"
) | {"data table"}
_DATA: Final = "data table"  # in place of the tag: its rows are lines, its cells no blocks
_ROWS: Final = frozenset({_DATA, "tr", "caption"})
_NEVER: Final = names("script style template noscript head title")
_MENU_TAGS: Final = names("div ul ol section p table")
# Below these no subtree is looked into as a whole: nested pages would cost their square.
_MENUS_DEEP: Final = 50
_TABLES_DEEP: Final = 5
_TIGHT: Final = frozenset({"li", "tr", "dd"})
_MENUS: Final = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|menu|breadcrumbs?|sidebar|footer|cookies?|share|sharing|social"
    r"|skip|toc|pagination|pager|advert|ads|promo|newsletter|subscribe|related)(?:$|[\s_-])",
    re.IGNORECASE,
)
_BLANK_LINES: Final = re.compile(r"\n{2,}")
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(slots=True)
class _Open:
    """The block being read: its text so far, and how much of it is inside links."""

    level: int = 0
    tight: bool = False
    code: bool = False
    pieces: list[str] = field(default_factory=list[str])
    linked: int = 0

    @property
    def blank(self) -> bool:
        return not any(piece.strip() for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Read:
    block: Block
    linked: float  # share of the characters inside links


def _skips(node: LexborNode, tag: str, depth: int) -> bool:
    if tag in _SKIPPED:
        return True
    if tag == "header":  # of the site, not of the article
        return (node.parent is not None and node.parent.tag == "body") and not node.css("h1")
    attributes = node.attributes
    return bool(attributes) and (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or (attributes.get("role") or "") in _SKIPPED_ROLES
        or bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))
        or (
            depth < _MENUS_DEEP
            and tag in _MENU_TAGS
            and _is_named_menu(attributes)
            and _is_menu(node)
        )
    )


def _is_named_menu(attributes: dict[str, str | None]) -> bool:
    return bool(_MENUS.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}"))


def _is_menu(node: LexborNode) -> bool:
    """Mostly links and short: the name alone is no proof (`class="has-sidebar"`)."""
    text = len(" ".join(node.text().split()))
    links = sum(len(" ".join(link.text().split())) for link in node.css("a"))
    return text < 600 and links * 2 >= text


def _is_data(table: LexborNode) -> bool:
    """Short cells and no structure inside: else the table only lays the page out."""
    if table.css("table table, h1, h2, h3, ul, ol, pre"):
        return False
    cells = len(table.css("td, th"))
    return cells > 1 and len(table.text()) < 200 * cells


def read_blocks(root: LexborNode, *, everything: bool = False) -> list[Read]:
    """Blocks under `root`; `everything` leaves out only what is never text."""
    walk = _Walk(root, everything=everything)
    for node in root.traverse(include_text=True):
        parent = node.parent
        if node.mem_id == root.mem_id or parent is None:
            continue
        walk.leave_to(parent.mem_id)
        tag = node.tag or ""
        if tag == "-text":
            walk.text(node)
        else:
            walk.enter(node, tag)
    walk.close()
    return walk.out


class _Walk:
    """A walk in document order. The tree tells only entries; exits follow from the parents."""

    def __init__(self, root: LexborNode, *, everything: bool) -> None:
        self.out: list[Read] = []
        self._now = _Open()
        self._path: list[tuple[int, str]] = [(root.mem_id, root.tag or "")]
        self._within = {"a": 0, "pre": 0, "table": 0, _DATA: 0}  # how many of these are open
        self._skipped = 0  # length of the path when skipping began, 0: not skipping
        self._everything = everything

    def leave_to(self, parent: int) -> None:
        while self._path[-1][0] != parent:
            tag = self._path.pop()[1]
            if tag in self._within:
                self._within[tag] -= 1
            if len(self._path) < self._skipped:
                self._skipped = 0
            elif self._skipped or tag not in _BLOCKS:
                continue
            elif self._within[_DATA] and tag not in _ROWS:
                self._now.pieces.append("\n")
            else:
                self.close()

    def text(self, node: LexborNode) -> None:
        if not self._skipped:
            text = node.text_content or ""
            self._now.pieces.append(text)
            self._now.linked += len(text.strip()) if self._within["a"] else 0

    def enter(self, node: LexborNode, tag: str) -> None:
        if tag == "table" and not self._skipped and self._within[tag] < _TABLES_DEEP:
            tag = _DATA if _is_data(node) else tag
        self._path.append((node.mem_id, tag))
        if tag in self._within:
            self._within[tag] += 1
        if self._skipped:
            return
        if tag in _NEVER if self._everything else _skips(node, tag, len(self._path)):
            self._skipped = len(self._path)
        elif tag in _BLOCKS and self._within[_DATA] and tag not in _ROWS:
            self._now.pieces.append("\n")  # `<td><p>`: a row is one block
        elif tag in _BLOCKS:
            # `<li><p>`: the paragraph stands where the item stands
            tight = tag in _TIGHT or (self._now.tight and self._now.blank)
            self.close()
            self._now.level, self._now.tight = _level(tag), tight
        elif tag in ("td", "th") and not self._now.blank:
            self._now.pieces.append(" | ")
        elif tag == "br":
            self._now.pieces.append("\n")

    def close(self) -> None:
        """Ends the block being read and begins the next."""
        _close(self.out, self._now)
        self._now = _Open(code=self._within["pre"] > 0)


def _level(tag: str) -> int:
    return int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else 0


def _close(out: list[Read], now: _Open) -> None:
    raw = "".join(now.pieces)
    if now.code:
        lines = (line.rstrip() for line in clean(raw).strip("\n").split("\n"))
        text = _BLANK_LINES.sub("\n", "\n".join(lines))
    else:
        text = one_line(raw).strip(" |")
    if text.strip():
        out.append(Read(Block(text, now.level, now.tight), now.linked / len(text)))
