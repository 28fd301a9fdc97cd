"""Keeps the nesting of a page within bounds, because a parser's time grows with its square."""

import re
from typing import Final

DEEPEST: Final = 512  # browsers stop nesting at about this depth too


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Void elements hold nothing; the others here are closed by what follows them.
_FLAT: Final = names(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th"
    " thead tbody tfoot option optgroup colgroup rp rt html head body"
)
_TAG: Final = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9-]*)(?:[^<>\"']|\"[^\"<]{0,2000}\"|'[^'<]{0,2000}')*>?"
)
_NAME: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")


def shallow(markup: str) -> str:
    """The same page; where it nests deeper than `DEEPEST`, without the tags below that."""
    if markup.count("<") <= DEEPEST or _depth(markup) <= DEEPEST:
        return markup
    depth = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth
        if match[2].lower() in _FLAT or match[0].endswith("/>"):
            return match[0]
        if match[1]:
            depth = max(0, depth - 1)
            return match[0] if depth < DEEPEST else ""
        depth += 1
        return match[0] if depth <= DEEPEST else ""

    return _TAG.sub(keep, markup)


def _depth(markup: str) -> int:
    depth = deepest = 0
    for match in _NAME.finditer(markup):
        if match[2].lower() in _FLAT:
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest
