"""A chat completion stream, bytes in, what it says out. Tolerant of all shapes in use.

Cut into lines at CR and LF alone: U+2028 and its like are text. Comments, empty choices, null
deltas, a second [DONE] and unknown fields mean nothing; an error object is a fault.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from app.providers.faults import Fault, no_stream, stream_error

_LINE: Final = re.compile(rb"\r\n|\r|\n")
_MOST: Final = 4 * 1024 * 1024  # bytes of one unfinished line


class Delta(msgspec.Struct):
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: Any = None


class Choice(msgspec.Struct):
    delta: Delta | None = None
    message: Delta | None = None  # of endpoints that answer whole although asked to stream
    finish_reason: str | None = None


class TokenCount(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Chunk(msgspec.Struct):
    choices: list[Choice] | None = None
    usage: TokenCount | None = None
    error: Any = None


_decoder: Final = msgspec.json.Decoder(Chunk)


@dataclass
class Reading:
    """The stream so far. `fault` is set by an error object; the text before it still counts."""

    finish: str | None = None
    usage: TokenCount | None = None
    done: bool = False
    active: bool = False  # did the last bytes hold content, thoughts included
    fault: Fault | None = None
    _text: list[str] = field(default_factory=list[str])
    _rest: bytes = b""
    _data: list[bytes] = field(default_factory=list[bytes])

    def feed(self, data: bytes) -> str:
        """Takes in bytes; returns the text they complete. Nothing counts after an end."""
        self.active = False
        self._rest += data
        if len(self._rest) > _MOST:
            self._fail(no_stream("a line without end"))
        for line in self._lines():
            if not self.done:
                self._line(line)
        out = "".join(self._text)
        self._text.clear()
        return out

    def end(self) -> str:
        """The body is over; an event without its blank line still counts."""
        self._rest += b"\n\n"
        return self.feed(b"")

    def _fail(self, fault: Fault) -> None:
        self.fault, self.done = fault, True

    def _lines(self) -> Iterator[bytes]:
        # A CR at the very end may be half of a CRLF: it waits for what follows.
        whole = self._rest[:-1] if self._rest.endswith(b"\r") else self._rest
        *lines, _ = _LINE.split(whole)
        used = sum(len(match[0]) for match in _LINE.finditer(whole)) + sum(map(len, lines))
        self._rest = self._rest[used:]
        yield from lines

    def _line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            data = b"\n".join(self._data)
            self._data.clear()
            self._event(data)
        elif line.startswith((b"{", b"<")) and not self._data:
            self._bare(line)

    def _bare(self, line: bytes) -> None:
        """A line that is no event: a whole answer in JSON, or a page of HTML."""
        if line.startswith(b"<"):
            self._fail(no_stream("a page of HTML"))
            return
        try:
            self._take(decode(line))
        except ValueError:
            self._fail(no_stream("something else than a chat completion"))
        self.done = True

    def _event(self, data: bytes) -> None:
        if data.startswith(b"[DONE]"):
            self.done = True
            return
        try:
            chunk = decode(data)
        except ValueError:
            self._fail(no_stream("events that are no JSON"))
            return
        self._take(chunk)

    def _take(self, chunk: Chunk) -> None:
        if chunk.error:
            self._fail(stream_error(chunk.error))
            return
        if chunk.usage and chunk.usage.completion_tokens is not None:
            self.usage = chunk.usage  # cumulative where it comes more than once
        for choice in (chunk.choices or [])[:1]:
            self.finish = choice.finish_reason or self.finish
            delta = choice.delta or choice.message
            if delta is None:
                continue
            piece = text_of(delta.content)
            if piece or delta.reasoning_content or delta.reasoning:
                self.active = True
            if piece:
                self._text.append(piece)


def decode(data: bytes) -> Chunk:
    """One JSON object. Raises ValueError (of which msgspec's errors are a kind)."""
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError:
        # A lone half of a surrogate pair: the standard library lets it through to be joined.
        return msgspec.convert(json.loads(data), Chunk, strict=False)


def text_of(content: Any) -> str:
    """The text of a message's content, which may come in typed parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[Any] = content  # pyright: ignore[reportUnknownVariableType]
    return "".join(
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    )
