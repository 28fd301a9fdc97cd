"""From bytes to text: byte order mark, UTF-8, what the page declares, then what fits best."""

import codecs
import re
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE
)
# What a page says is often a subset of what it means (WHATWG Encoding Standard, labels).
_MEANT: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "big5": "big5hkscs",
    "iso-8859-1": "windows-1252",
    "latin1": "windows-1252",
    "us-ascii": "windows-1252",
    "ascii": "windows-1252",
}
_STATEFUL: Final = frozenset({"iso-2022-jp", "iso-2022-kr", "hz-gb-2312", "hz"})
_SAMPLE: Final = 64 * 1024


def decode(data: bytes, declared: str | None = None, *, markup: bool = False) -> str:
    """The text of a file or page; undecodable bytes become U+FFFD, nothing raises.

    `declared` is the charset of an HTTP header; `markup`: look for one in the page too.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    label = _known(declared)
    if label is None and markup:
        found = _DECLARED.search(data[:4096])
        label = _known(found[1].decode("ascii")) if found else None
    codec = _without_mark(data) or (label if label in _STATEFUL else None) or _utf8(data)
    if codec is None:
        codec = label if label is not None and _fits(data, label) else _guess(data)
    return data.decode(codec, "replace")


def _utf8(data: bytes) -> str | None:
    """UTF-8 where it is that, a few broken places allowed."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        foreign = len(text.encode("utf-16-le")) // 2 - len(text.encode("ascii", "ignore"))
        return "utf-8" if text.count("\ufffd") * 200 <= foreign else None
    return "utf-8"


def _known(label: str | None) -> str | None:
    if label is None:
        return None
    name = label.strip().strip("\"'").lower()
    name = _MEANT.get(name, name)
    try:
        codec = codecs.lookup(name)
    except LookupError:
        return None
    # Page codecs only: `rot13` and `zip` are codecs too, and a page in UTF-16 cannot say so.
    if codec.name.startswith(("utf-16", "utf-32", "utf-7")) or not _is_text(name):
        return None
    return name if name in _STATEFUL else codec.name


def _is_text(name: str) -> bool:
    try:
        b"".decode(name)
    except (LookupError, UnicodeError):
        return False
    return True


def _without_mark(data: bytes) -> str | None:
    """UTF-16 without its mark: every other byte of Western text is zero."""
    head = data[:1024]
    if len(head) < 4 or b"\x00" not in head:
        return None
    half = len(head) // 2
    if head[1::2].count(0) > 0.6 * half and head[::2].count(0) < 0.1 * half:
        return "utf-16-le"
    if head[::2].count(0) > 0.6 * half and head[1::2].count(0) < 0.1 * half:
        return "utf-16-be"
    return None


def _fits(data: bytes, codec: str) -> bool:
    text = data[:_SAMPLE].decode(codec, "replace")
    return text.count("\ufffd") * 50 <= len(text)


def _guess(data: bytes) -> str:
    """The multi-byte encoding whose common characters make up most of the text, if any."""
    best, score = "windows-1252", 0.65
    for codec in ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"):
        found = _score(data[:_SAMPLE], codec)
        if found > score:
            best, score = codec, found
    return best


def _score(sample: bytes, codec: str) -> float:
    """Share of the non-ASCII characters that are everyday ones of that encoding, 0 to 1."""
    text = sample.decode(codec, "replace")
    # Each byte that is wrong here, bar a character cut at the end of the sample, speaks loudly.
    broken = text.count("\ufffd") - text.endswith("\ufffd")
    foreign = [c for c in text if c > "\x7f" and c != "\ufffd"][:4000]
    if not foreign or broken * 50 > len(foreign):
        return 0.0
    kana = sum("\u3041" <= c <= "\u30ff" for c in foreign) / len(foreign)
    if codec in ("cp932", "euc_jp") and kana < 0.1:
        return 0.0
    if codec == "cp949":
        hangul = sum("\uac00" <= c <= "\ud7a3" for c in foreign) / len(foreign)
        return hangul + 0.1 if hangul > 0.8 else 0.0  # GB text makes about half of it Hangul
    return sum(_everyday(c, codec) for c in foreign) / len(foreign)


_LEADS: Final = {  # lead bytes of punctuation, kana and the first level of Han characters
    "gb18030": ("gb2312", ((0xA1, 0xA3), (0xB0, 0xD7))),
    "big5hkscs": ("big5", ((0xA1, 0xC6),)),
    "cp932": ("shift_jis", ((0x81, 0x98),)),
    "euc_jp": ("euc_jp", ((0xA1, 0xA5), (0xB0, 0xCF))),
}


def _everyday(char: str, codec: str) -> bool:
    base, ranges = _LEADS[codec]
    raw = char.encode(base, "ignore")
    return len(raw) == 2 and any(low <= raw[0] <= high for low, high in ranges)
