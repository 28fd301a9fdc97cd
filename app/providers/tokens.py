"""Tokens of a text, estimated: a quarter of the characters, one for each CJK character."""

import re
from typing import Final

_WIDE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff]")


def estimate(text: str) -> int:
    """At least 1 for any text, 0 for none."""
    if not text:
        return 0
    wide = len(_WIDE.findall(text))
    return max(1, wide + (len(text) - wide) // 4)
