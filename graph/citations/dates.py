"""Dates in a text, in the spellings that English and Chinese sources use."""

import re
from typing import Final

Date = tuple[int | None, int | None, int | None]
"""(year, month, day); None for what the spelling leaves open."""

_NAMES: Final = (
    "january february march april may june july august september october november december"
)
_MONTHS: Final = {
    name[:size]: i + 1 for i, name in enumerate(_NAMES.split()) for size in (3, len(name))
} | {"sept": 9}
_M: Final = rf"(?P<name>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_D: Final = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th)?"
_Y: Final = r"(?P<y>[12]\d{3})"
_SPELLINGS: Final = (
    rf"{_Y}(?P<s>[-/.])(?P<m>[01]?\d)(?P=s)(?P<d>[0-3]?\d)(?!\d)",
    rf"{_Y}-(?P<m>0[1-9]|1[0-2])(?![-\d])",
    rf"(?P<d>[0-3]?\d)(?P<s>[./])(?P<m>[0-3]?\d)(?P=s){_Y}(?!\d)",
    rf"{_D}(?: of)? {_M},? {_Y}(?!\d)",
    rf"{_M} {_D},? {_Y}(?!\d)",
    rf"{_M},? {_Y}(?!\d)",
    rf"{_D}(?: of)? {_M}(?!\w)",
    rf"{_M} {_D}(?![\w%]|[.,]\d)",
)
_PATTERNS: Final = (
    *(re.compile(rf"(?<![\w.]){spelling}", re.IGNORECASE) for spelling in _SPELLINGS),
    re.compile(rf"{_Y} ?年(?: ?(?P<m>[01]?\d) ?月(?: ?(?P<d>[0-3]?\d) ?[日号])?)?"),
    re.compile(r"(?<!\d)(?P<m>[01]?\d) ?月 ?(?P<d>[0-3]?\d) ?[日号]"),
)


def take_dates(text: str) -> tuple[list[tuple[str, Date]], str]:
    """The dates of a text, each with its spelling, and the text with blanks in their place."""
    found: list[tuple[str, Date]] = []
    for pattern in _PATTERNS:
        blanked = text
        for match in pattern.finditer(text):
            date = _date(match)
            if date is None:
                continue
            found.append((match[0], date))
            start, end = match.span()
            blanked = blanked[:start] + " " * (end - start) + blanked[end:]
        text = blanked
    return found, text


def _date(match: re.Match[str]) -> Date | None:
    parts = match.groupdict()
    year = int(parts["y"]) if parts.get("y") else None
    day = int(parts["d"]) if parts.get("d") else None
    name = parts.get("name")
    month = _MONTHS[name.lower()] if name else int(parts["m"]) if parts.get("m") else None
    if month is not None and day is not None and month > 12 >= day:  # 05/13/2024
        month, day = day, month
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None and not 1 <= day <= 31:
        return None
    return year, month, day
