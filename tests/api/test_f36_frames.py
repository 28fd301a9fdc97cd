"""Case F36: text cannot split a frame or forge an event, as a strict browser would see it."""

import pytest

from registry.events import Event, EventId
from tests.api.eventstream import Parser

TOKENS = [
    "\r",
    "\n\n",
    "\r\n",
    "x\revent: end\rdata: {}",
    "x\nid: 99-99\n\n",
    ":comment",
    "data: x",
    "   leading",
    "\ufeffbom",
    "",
    "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e",
    "\U0001f600 split \u4e2d\u6587",
    "\\u0000 written out",
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_f36_one_event_per_token_however_the_bytes_are_cut(size: int) -> None:
    made = [
        Event.make(EventId(2, place), "token", {"section": 0, "text": text})
        for place, text in enumerate(TOKENS, 1)
    ]
    stream = b"".join(event.frame for event in made)
    parser = Parser()
    for place in range(0, len(stream), size):
        parser.feed(stream[place : place + size])
    assert [event.name for event in parser.events] == ["token"] * len(TOKENS)
    assert [event.data["text"] for event in parser.events] == TOKENS
    assert [event.id for event in parser.events] == [f"2-{n}" for n in range(1, len(TOKENS) + 1)]
    assert parser.comments == []


def test_f36_the_parser_itself_is_strict() -> None:
    """What the cases above rely on: this reader does see forged lines where there are some."""
    parser = Parser()
    parser.feed(
        b"event: token\ndata: x\revent: end\rdata: {}\n\nid: 5\n\ndata\n\n:note\nretry: 3\n"
    )
    assert [(e.name, e.text) for e in parser.events] == [("end", "x\n{}"), ("message", "")]
    assert (parser.last_id, parser.comments, parser.retry) == ("5", ["note"], 3)
