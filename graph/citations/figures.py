"""Figures of a sentence (numbers, percentages, dates, codes) and whether a text states them.

Values are compared, not spellings: 3.5 million, 3,500,000, ３５０万 and 三百五十万 are one
number; 3 May 2024, 2024-05-03 and 2024年5月3日 one date. A name that holds digits (GPT-4, F09,
1.2.3) is a code and has to occur as such. Number words of a claim (three reasons) are style and
are not checked; those of a source support a digit.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from graph.citations.dates import Date, take_dates
from graph.citations.numerals import SCALES, worded

_WIDE: Final = str.maketrans("０１２３４５６７８９．％：／－‑–—～〜", "0123456789.%:/----~~")
_CODE: Final = re.compile(
    r"(?<![A-Za-z\d])(?:[A-Za-z]*[A-Z][A-Za-z]*[-_/]|[A-Za-z]+)\d[A-Za-z\d]*(?:[.\-_]\d[A-Za-z\d]*)*"
    r"|(?<![\d.])\d+(?:\.\d+){2,}(?!\d)"
)
_MONEY: Final = re.compile(r"(?:US|HK|A|C|R)?D?[A-Z]{0,3}\d+", re.ASCII)
_PARTS: Final = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)*")
_PLAIN: Final = r"\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+|,\d{1,2}(?!\d))?"
_NUMBER: Final = re.compile(
    rf"(?P<of>百分之\s?)?(?P<first>{_PLAIN})(?:\s?(?:-|~|to|至|到)\s?(?P<last>{_PLAIN}))?"
    r"(?:\s?(?P<word>(?i:hundred|dozen|thousand|million|billion|trillion|[mbt]n)\b)"
    r"|\s?[多余餘]?\s?(?P<scale>万亿|百万|千万|[百千万亿萬億兆])|(?P<letter>[KkMB])(?![A-Za-z]))?"
    r"(?P<percent>\s?(?:%|(?i:percent|per cent|percentage points?|pct)\b|个百分点|個百分點))?"
)
_LISTED: Final = re.compile(r"[(（]\d{1,2}[)）]|(?<![\w(])\d{1,2}\)")

Kind = Literal["number", "percent", "date", "code"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure; `values` are its possible readings, `text` is how it was written."""

    kind: Kind
    text: str
    values: frozenset[Decimal] = frozenset()
    date: Date = (None, None, None)


@dataclass(frozen=True, slots=True)
class Stated:
    """All figures of a source text, ready to be compared."""

    text: str
    numbers: frozenset[Decimal]
    percents: frozenset[Decimal]
    dates: frozenset[Date]

    def holds(self, figure: Figure) -> bool:
        if figure.kind == "code":
            return _code(figure.text).search(self.text) is not None
        if figure.kind == "date":
            return self._holds_date(figure.date)
        if figure.kind == "number" and not self.numbers.isdisjoint(figure.values):
            return True
        return not self.percents.isdisjoint(figure.values)

    def _holds_date(self, wanted: Date) -> bool:
        year, month, day = wanted
        has_year = year is not None and Decimal(year) in self.numbers
        if month is None:
            return has_year
        for date in self.dates:
            if all(w in (None, d) for w, d in zip(wanted, date, strict=True)):
                return True
            if has_year and date[0] is None and day in (None, date[2]) and date[1] == month:
                return True
        return False


def figures(text: str) -> tuple[Figure, ...]:
    """The figures of a claim that its source has to state."""
    flat = _LISTED.sub(" ", _flat(text))
    out = list(_scan(flat))
    for spelling, value, percent, exact in worded(flat):
        if exact:
            out.append(Figure("percent" if percent else "number", spelling, frozenset({value})))
    return tuple(out)


@lru_cache(maxsize=4096)
def stated(text: str) -> Stated:
    """What a source text states; generous where a spelling can be read in two ways."""
    flat = _flat(text)
    numbers: set[Decimal] = set()
    percents: set[Decimal] = set()
    dates: set[Date] = set()
    for figure in _scan(flat):
        if figure.kind == "date":
            dates.add(figure.date)
            numbers.update(Decimal(part) for part in figure.date if part is not None)
        elif figure.kind == "code":
            numbers.update(Decimal(part) for part in re.findall(r"\d+(?:\.\d+)?", figure.text))
        else:
            (percents if figure.kind == "percent" else numbers).update(figure.values)
            numbers.update(Decimal(part) for part in re.findall(r"\d+(?=,\d{1,2}\b)", figure.text))
    for _, value, percent, _ in worded(flat):
        (percents if percent else numbers).add(value)
    return Stated(flat, frozenset(numbers), frozenset(percents), frozenset(dates))


def missing(wanted: Iterable[Figure], texts: Iterable[str]) -> list[Figure]:
    """Those figures that none of the texts states."""
    sources = [stated(text) for text in texts]
    return [figure for figure in wanted if not any(source.holds(figure) for source in sources)]


def _flat(text: str) -> str:
    return re.sub(r"(?<=[0-9])，(?=[0-9]{3}(?![0-9]))", ",", text.translate(_WIDE))


def _scan(text: str) -> Iterator[Figure]:
    dates, text = take_dates(text)
    for spelling, date in dates:
        yield Figure("date", spelling, date=date)
    codes = [match for match in _CODE.finditer(text) if not _MONEY.fullmatch(match[0])]
    for match in codes:
        yield Figure("code", match[0])
        text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    for match in _NUMBER.finditer(text):
        scale = _scale(match)
        kind = "percent" if match["percent"] or match["of"] else "number"
        for part in (match["first"], match["last"]):
            if part:
                values = frozenset(value * scale for value in _readings(part))
                yield Figure(kind, match[0].strip() if part == match["first"] else part, values)


def _scale(match: re.Match[str]) -> int:
    name = match["word"] or match["scale"] or match["letter"]
    return SCALES[name.lower()] if name else 1


def _readings(text: str) -> set[Decimal]:
    """The values a spelling may have: 1.234 is a decimal here and a thousand there."""
    plain = re.sub(r"[\u00a0\u202f]", "", text)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        return {Decimal(plain.replace(",", ""))}
    out = {Decimal(plain.replace(",", "."))}
    if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", plain):
        out.add(Decimal(plain.replace(".", "")))
    return out


@lru_cache(maxsize=1024)
def _code(text: str) -> re.Pattern[str]:
    """A code as it may be spelled: `GPT-4`, `GPT 4` and `gpt4` are one."""
    parts = [re.escape(part) for part in _PARTS.findall(text)]
    body = r"[-_/.\s]?".join(parts)
    return re.compile(rf"(?<![A-Za-z\d]){body}(?![A-Za-z\d])", re.IGNORECASE)
