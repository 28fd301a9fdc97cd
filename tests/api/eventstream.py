"""A strict reader of event streams, after the algorithm of the WHATWG HTML standard.

It takes bytes cut anywhere and gives what a browser would: nothing is forgiven, nothing is
guessed. Line ends are CR, LF or CRLF; a byte order mark is dropped at the very start only.
"""

import codecs
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Received:
    """One dispatched event; `id` is the reader's last event id at that moment."""

    id: str
    name: str
    text: str

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.text)


@dataclass(slots=True)
class Parser:
    events: list[Received] = field(default_factory=list[Received])
    comments: list[str] = field(default_factory=list[str])
    retry: int | None = None
    last_id: str = ""
    _line: str = ""
    _after_cr: bool = False
    _started: bool = False
    _name: str = ""
    _data: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")

    _decoder: codecs.IncrementalDecoder = field(init=False, repr=False)

    def feed(self, data: bytes) -> list[Received]:
        """The events that these bytes complete."""
        before = len(self.events)
        for character in self._decoder.decode(data):
            self._take(character)
        return self.events[before:]

    def _take(self, character: str) -> None:
        if not self._started:
            self._started = True
            if character == "\ufeff":
                return
        if character == "\n" and self._after_cr:
            self._after_cr = False
            return
        self._after_cr = character == "\r"
        if character in "\r\n":
            line, self._line = self._line, ""
            self._take_line(line)
        else:
            self._line += character

    def _take_line(self, line: str) -> None:
        if not line:
            self._dispatch()
            return
        name, colon, value = line.partition(":")
        value = value.removeprefix(" ") if colon else ""
        if not name:
            self.comments.append(value)
        elif name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            if "\0" not in value:
                self.last_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value)

    def _dispatch(self) -> None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        if data:
            self.events.append(Received(self.last_id, name or "message", "\n".join(data)))
