"""Marks: the writer's `[S3]` in all its spellings, each turned into one private character.

One character a mark keeps sentences whole and offsets simple while a section is worked on.
The same plane holds `NOTE`, which stays where something was taken out of the text.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

NOTE: Final = "\ue001"
FIRST: Final = 0xF0000
LAST: Final = 0xFFFFC
ADDED: Final = "\U000ffffd"  # the mark of a repair, beyond all that were read
PRIVATE: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
MARK: Final = re.compile("[\U000f0000-\U000ffffd]")
CODE_SPAN: Final = re.compile(r"(?<!`)(`{1,3})(?!`)(?:.+?)(?<!`)\1(?!`)")

_ID: Final = r"[Ss]\s?\d{1,6}"
_NEXT: Final = (
    r"(?:\s*(?:[,，、;；&/]|and|和)\s*[Ss]?\s?\d{1,6}|\s*(?:-|–|—|~|to|至)\s*[Ss]?\d{1,6})"
)
_OPEN, _CLOSE = r"(?:\\?[\[【［]){1,2}", r"(?:\\?[\]】］]){1,2}"
_SPELLED: Final = re.compile(
    rf"{_OPEN}\s*\^?(?:[Ss]ources?:?\s+)?({_ID}{_NEXT}{{0,40}})\s*{_CLOSE}(?:\((?:https?:)?[^()\s]*\))?"
    rf"|[(（]\s*({_ID}{_NEXT}{{0,40}})\s*[)）]"
)
HELD: Final = re.compile(rf"[\[【［]\s*{_ID}[^\]】］\n]{{0,40}}[\]】］]")
_PIECE: Final = re.compile(r"(-|–|—|~|to|至)?\s*[Ss]?\s?(\d{1,6})")
_LATE: Final = re.compile(
    r"([.!?。！？…]+[\"'”’」』》)）*_]*)([^\S\n]*)([\U000f0000-\U000ffffd](?:\s?[\U000f0000-\U000ffffd])*)"
)
_CJK: Final = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


class Marks:
    """The marks of one section. `hide` puts them away, `ids` tells what one stood for."""

    def __init__(self) -> None:
        self._ids: list[tuple[int, ...]] = []

    def ids(self, char: str) -> tuple[int, ...]:
        """Source numbers as written, known or not; empty for a character that is no mark."""
        index = ord(char) - FIRST
        return self._ids[index] if 0 <= index < len(self._ids) else ()

    def hide(self, text: str, literal: str = "") -> str:
        """The text with one private character for each mark; code spans stay as they are.

        A bracketed `(S3)` is left alone where `literal`, the evidence, writes it just so.
        """

        def put(match: re.Match[str]) -> str:
            spelled = match[1] or match[2]
            if (match[2] and match[0] in literal) or FIRST + len(self._ids) > LAST:
                return match[0]
            self._ids.append(_parsed(spelled))
            return chr(FIRST + len(self._ids) - 1)

        return outside_code(text, lambda part: _SPELLED.sub(put, part))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Applies `change` to the parts of a text that are not inline code."""
    out: list[str] = []
    done = 0
    for match in CODE_SPAN.finditer(text):
        out += [change(text[done : match.start()]), match[0]]
        done = match.end()
    return "".join([*out, change(text[done:])])


def drawn_in(text: str) -> str:
    """Marks that come after the end of a sentence go before its full stop: `x.[S1] Y` is x's."""

    def moved(match: re.Match[str]) -> str:
        end, _, marks = match.groups()
        before = text[: match.start()]
        if not before.strip() or MARK.match(before[-1]):  # nothing to cite, or cited already
            return match[0]
        gap = "" if _CJK.match(before[-1]) or before[-1].isspace() else " "
        return f"{gap}{marks}{end}"

    return _LATE.sub(moved, text)


def plain(text: str) -> str:
    """The text without marks and notes, and without the blanks that stood before them."""
    return PRIVATE.sub("", re.sub(r"\s+(?=[\ue001\U000f0000-\U000ffffd])", "", text))


def _parsed(spelled: str) -> tuple[int, ...]:
    ids: list[int] = []
    for dash, digits in _pieces(spelled):
        n = int(digits)
        ids += range(ids[-1] + 1, n + 1) if dash and ids and 0 < n - ids[-1] <= 20 else [n]
    return tuple(dict.fromkeys(ids))


def _pieces(spelled: str) -> Iterator[tuple[str, str]]:
    for match in _PIECE.finditer(spelled):
        yield match[1] or "", match[2]
