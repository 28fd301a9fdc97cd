"""`Tidy`: a model's text made fit to be sent, across the borders of its chunks.

- `<think>` blocks at the start of the text or of a line are left out, also an unclosed one.
- Halves of a surrogate pair that come in two chunks are joined; a lone half and NUL become
  U+FFFD.
What may still become part of either is held back until it is decided; nothing else is.
"""

import re
from typing import Final

from graph.text.clean import scrub

_OPEN: Final = re.compile(r"(?:\A|(?<=\n))[^\S\n]*<think(?:ing)?>", re.IGNORECASE)
_CLOSE: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPENERS: Final = ("<think>", "<thinking>")
_CLOSER: Final = len("</thinking>")


class Tidy:
    """One answer's text."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._fresh = True  # only blanks since the last line began
        self._trim = False  # blanks after a block belong to it

    def feed(self, text: str) -> str:
        """The text that is decided by now; may be empty."""
        left = self._held + text
        self._held = ""
        out = ""
        while left:
            if self._thinking:
                close = _CLOSE.search(left)
                if close is None:
                    self._held = left[1 - _CLOSER :]
                    break
                self._thinking, self._trim, self._fresh = False, True, True
                left = left[close.end() :]
                continue
            if self._trim:
                left = left.lstrip()
                self._trim = not left
            opened = self._opened(left)
            if opened:
                out += left[: opened.start()]
                self._thinking = True
                left = left[opened.end() :]
                continue
            keep = self._undecided(left)
            self._held = left[keep:]
            out += self._passed(left[:keep])
            break
        return scrub(out)

    def end(self) -> str:
        """The rest, once no more comes. What was thought to the end is dropped."""
        rest = "" if self._thinking else self._held
        self._held = ""
        return scrub(rest)

    def _opened(self, text: str) -> re.Match[str] | None:
        for match in _OPEN.finditer(text):
            if match.start() > 0 or self._fresh:
                return match
        return None

    def _undecided(self, text: str) -> int:
        """Where the part begins that may be the start of a block or half of a character."""
        line = text.rfind("\n") + 1
        begun = text[line:].lstrip().lower()
        if begun and (line or self._fresh) and any(o.startswith(begun) for o in _OPENERS):
            return len(text) - len(begun)
        return len(text) - ("\ud800" <= text[-1:] <= "\udbff")

    def _passed(self, text: str) -> str:
        line = text.rfind("\n") + 1
        self._fresh = not text[line:].strip() and (bool(line) or self._fresh)
        return text
