"""Whether a claim and a source are in two languages, so that shared words prove nothing."""

import re
from functools import lru_cache
from typing import Final

from graph.text.language import detect

_SCRIPTS: Final = (
    ("kana", re.compile("[\u3041-\u30ff]")),
    ("hangul", re.compile("[\u1100-\u11ff\uac00-\ud7ff]")),
    ("han", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")),
    ("cyrillic", re.compile("[\u0400-\u052f]")),
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("arabic", re.compile("[\u0600-\u06ff\u0750-\u077f]")),
    ("hebrew", re.compile("[\u0590-\u05ff]")),
    ("indic", re.compile("[\u0900-\u0dff]")),
    ("thai", re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")),
)
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f]+")
_NAME: Final = re.compile(r"[A-Za-z][\w./:+-]*[\w+#]", re.ASCII)
UNSPACED: Final = frozenset({"han", "kana", "hangul", "thai"})
_SHORT: Final = 40  # code points under which a detector guesses


@lru_cache(maxsize=4096)
def script(text: str) -> str:
    """The script that carries the text; names and code in Latin letters do not decide."""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    if counts["kana"] * 10 > counts["han"]:  # Japanese writes its grammar in kana
        counts["kana"] += counts.pop("han")
    name = max(counts, key=lambda k: counts[k])
    return name if counts[name] and counts[name] * 2 >= len(_LATIN.findall(text)) else "latin"


@lru_cache(maxsize=4096)
def foreign(claim: str, source: str, language: str) -> bool:
    """Are the two in different languages? `language` is what the claim should be in.

    Different scripts say so at once. Latin texts of some length are asked of a detector; a
    claim that is not in the language asked for is taken for what it looks like.
    """
    ours, theirs = script(claim), script(source)
    if ours != theirs:
        return True
    if ours != "latin" or min(len(claim), len(source)) < _SHORT:
        return False
    found = detect(source)
    return found != language and found != detect(claim)


def names(claim: str) -> frozenset[str]:
    """Names a claim in another script leaves in Latin letters, folded: Redis, XADD, kill -9."""
    if script(claim) == "latin":
        return frozenset()
    return frozenset(match[0].casefold() for match in _NAME.finditer(claim))
