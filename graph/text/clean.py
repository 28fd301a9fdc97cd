"""What may not travel: NUL, lone surrogates, a model's private thoughts."""

import re
from typing import Final

_UNSENDABLE: Final = re.compile("[\x00\ud800-\udfff]")
_THOUGHT: Final = re.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE
)
_SPACE: Final = re.compile(r"\s+")
# A line break between two of these was only made by a line that was full.
_WIDE_BREAK: Final = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])\s*\n\s*(?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])"
)


def scrub(text: str) -> str:
    """NUL and lone surrogates become U+FFFD; halves of a pair that stand together are joined."""
    if not _UNSENDABLE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", "\ufffd")


def without_thoughts(text: str) -> str:
    """Drops `<think>` blocks, an unclosed one to the end of the text."""
    return _THOUGHT.sub("", text)


def one_line(text: str, limit: int = 500) -> str:
    """White space collapsed to single spaces; cut to `limit` code points with an ellipsis."""
    line = _SPACE.sub(" ", _WIDE_BREAK.sub("", text)).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def clean(text: str) -> str:
    """Text of a model or a reader, fit to be stored and sent."""
    return scrub(without_thoughts(text))
