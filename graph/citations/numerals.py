"""Numbers written in words: Chinese numerals and the short English ones."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL: Final = {"十": 10, "百": 100, "千": 1000}
SCALES: Final = {
    "hundred": 100, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9,
    "trillion": 10**12, "mn": 10**6, "bn": 10**9, "tn": 10**12, "k": 10**3, "m": 10**6, "b": 10**9,
    "百": 100, "千": 10**3, "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8, "万亿": 10**12,
    "萬": 10**4, "億": 10**8, "兆": 10**12,
}  # fmt: skip
_ENGLISH: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100, "dozen": 12, "twice": 2, "a": 1,
}  # fmt: skip
_WORD: Final = re.compile(rf"\b({'|'.join(_ENGLISH)})\b(?:[ -](\w+))?", re.IGNORECASE)
_CHINESE: Final = re.compile("(百分之)?([零〇一二两三四五六七八九十百千万亿萬億]+)(个百分点)?")


def chinese(text: str) -> Decimal | None:
    """The value of a Chinese numeral such as 三百五十万 or 二〇二四; None where it is not one."""
    if len(text) >= 2 and all(c in _DIGITS for c in text):  # digit by digit: years, codes
        return Decimal("".join(str(_DIGITS[c]) for c in text))
    if text[0] in "百千万亿萬億":  # 千万, 万一: words, not counts
        return None
    total = section = digit = 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _SMALL:
            section += (digit or 1) * _SMALL[c]
            digit = 0
        else:
            total = (total + section + digit) * SCALES[c]
            section = digit = 0
    return Decimal(total + section + digit)


def worded(text: str) -> Iterator[tuple[str, Decimal, bool, bool]]:
    """(spelling, value, is a percentage, is exact) of each number in words.

    Exact ones are counts that a claim has to find in its source (三百, fifty percent, two
    million); the others (three reasons, 两个, 二三) are often mere style.
    """
    for match in _WORD.finditer(text):
        word, after = match[1].lower(), (match[2] or "").lower()
        value = Decimal(_ENGLISH[word])
        if after in SCALES and len(after) > 1:
            yield match[0], value * SCALES[after], False, word != "a"
        elif after in ("percent", "per", "percentage"):
            yield match[0], value, after != "per", after == "percent" and word != "a"
        elif after in _ENGLISH and value >= 20:  # twenty-one
            yield match[0], value + _ENGLISH[after], False, False
        if word != "a":
            yield match[1], value, False, False
    for match in _CHINESE.finditer(text):
        value = chinese(match[2])
        if value is None:
            continue
        percent = bool(match[1] or match[3])
        spelled = all(c in _DIGITS for c in match[2])
        exact = percent or (len(match[2]) >= 4 if spelled else len(match[2]) >= 2)
        yield match[0], value, percent, exact
