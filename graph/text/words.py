"""Words of a text as a ranking sees them: folded, stemmed, without the empty ones.

- Letters are folded by width and case (NFKC, casefold) and Latin ones lose their accents.
- English words are stemmed (Snowball); words that say nothing are left out.
- Identifiers count whole and in parts: `task:cancel` is also `task` and `cancel`,
  `DRAIN_SECONDS` also `drain` and `second`, `kill -9` holds `-9` and `9`.
- Scripts without spaces count by overlapping pairs of characters, so that any word of two
  characters is found wherever it stands; longer Chinese words and lone characters come on top.
"""

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Final

import rjieba
import snowballstemmer

# Han, kana, Hangul, and the scripts of South-East Asia that put no spaces between words.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER: Final = rf"(?:[^\W_{_UNSPACED}]|[\u0900-\u0dff])"
_JOINT: Final = "[_.:/@'’]"
_ASCII: Final = re.compile(
    r"(?<![\w-])--?[A-Za-z0-9][\w-]*|[A-Za-z0-9]+(?:[_.:/@'][A-Za-z0-9]+)*(?:\+\+|#)?"
)
_MIXED: Final = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)|(?<![\w-])--?[A-Za-z0-9][A-Za-z0-9_-]*"
    rf"|{_LETTER}+(?:{_JOINT}{_LETTER}+)*(?:\+\+|#)?"
)
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_PARTS: Final = re.compile("[-_.:/@]+")
_HUMPS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HUMPED: Final = re.compile(r"[a-z][A-Z]")
_LONGEST: Final = 64  # characters of one word; longer ones are keys or encoded data

_EMPTY_WORDS: Final = """
    a about after all also am an and any are as at be because been before being between both
    but by can cannot could did do does doing done each either for from get gets give gives had
    has have having he her here hers him his how i if in into is it its itself just let like
    may me might more most much must my no nor not of off on once one only or other our out over
    own per same she should so some such than that the their them then there these they this
    those through to too under until up upon us very via was we were what when where whether
    which while who whom whose why will with within without would you your s t d ll re ve m
    tell explain describe please
"""
_EMPTY_HAN: Final = """
    的 了 和 是 在 与 及 或 也 都 就 而 着 被 把 对 为 以 于 之 其 这 那 吗 呢 吧 啊 等 有 会
    能 要 我 你 他 她 它 们 上 下 中 里 个 所 从 到 向 由 让 使 将 并 且 但 如 若 则 又 再 还
    很 更 最 只 每 哪 谁 几 什么 怎么 怎样 如何 为什么 为何 哪些 哪个 哪里 多少 是否 可以 这个
    那个 这些 那些 我们 你们 他们 它们 一个 一种 没有 以及 因为 所以 如果 但是 或者 并且 然后
    时候 时 请 请问 介绍 说明 解释 进行 通过 对于 关于 的话
"""
_STOP: Final = frozenset(_EMPTY_WORDS.split())
_STOP_HAN: Final = frozenset(_EMPTY_HAN.split())


class _Stemmers(threading.local):
    """One a thread: a stemmer keeps the word it works on in itself."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_stemmers: Final = _Stemmers()


def terms(text: str) -> list[str]:
    """Index terms of a text, in order, with repeats; empty where it has none."""
    return _terms(text, asked=False)


def query_terms(text: str) -> list[str]:
    """Terms to look for. As `terms`, but pairs of characters do not reach across empty words."""
    return _terms(text, asked=True)


def _terms(text: str, *, asked: bool) -> list[str]:
    out: list[str] = []
    if text.isascii():
        for token in _ASCII.findall(text):
            out += _expanded(token)
        return out
    for match in _MIXED.finditer(unicodedata.normalize("NFKC", text)):
        run = match["run"]
        if run is None:
            out += _expanded(match[0])
        else:
            out += _pairs(run, asked=asked)
    return out


@lru_cache(maxsize=1 << 17)
def _expanded(token: str) -> tuple[str, ...]:
    """The terms of one spaced word or identifier."""
    if len(token) > _LONGEST:
        return ()
    out: list[str] = []
    whole = _folded(token)
    parts = [part for part in _PARTS.split(token) if part]
    humps = [hump for part in parts for hump in (_humps(part))]
    if token[0] == "-" or len(parts) > 1 or len(humps) > 1:
        out.append(whole)
    for part in humps:
        word = _folded(part)
        if word not in _STOP and word:
            out.append(_stem(word))
    return tuple(out)


def _humps(part: str) -> list[str]:
    return _HUMPS.findall(part) if _HUMPED.search(part) and part.isascii() else [part]


def _folded(token: str) -> str:
    word = token.casefold().replace("’", "'")
    word = word.removesuffix("'s").replace("'", "")
    if word.isascii():
        return word
    bare = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return bare if bare.isascii() else word


def _stem(word: str) -> str:
    return _stemmers.english.stemWord(word) if word.isascii() and word.isalpha() else word


def _pairs(run: str, *, asked: bool) -> list[str]:
    """Terms of a run of characters without spaces."""
    words: list[str] = list(rjieba.cut(run)) if _HAN.search(run) else [run]
    spans = [run]
    if asked:
        spans = [s for s in "".join("\n" if w in _STOP_HAN else w for w in words).split("\n") if s]
    out = [span[i : i + 2] for span in spans for i in range(len(span) - 1)]
    if asked:
        out = [pair for pair in out if not _STOP_HAN.issuperset(pair)]
    out += [w for w in words if len(w) != 2 and w not in _STOP_HAN and _HAN.fullmatch(w)]
    return out or ([run] if len(run) == 1 and not asked else [])
