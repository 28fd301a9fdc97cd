"""Frames keep their invariants whatever the text is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.events import EventId, encode_frame, encode_json, scrub

AWKWARD = [
    "\r",
    "\n\n",
    "\r\n",
    "x\revent: end\rdata: {}",
    ":comment",
    "data: x",
    "  leading",
    "\ufeffbom",
    "",
    "a\u2028b\u2029c\x85d\x0b\x0c\x1c\x1e",
    "literal \\u0000 stays",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_f36_no_text_can_split_a_frame(text: str) -> None:
    frame = encode_frame(EventId(3, 7), "token", {"section": 0, "text": text}).decode()
    assert frame.endswith("\n\n")
    lines = frame[:-2].splitlines()
    assert [line.split(": ", 1)[0] for line in lines] == ["id", "event", "data"]
    assert lines[:2] == ["id: 3-7", "event: token"]
    assert json.loads(lines[2].removeprefix("data: "))["text"] == text


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=40))
def test_any_string_leaves_as_one_line_of_valid_json(text: str) -> None:
    raw = encode_json({"text": text, text: 1})
    back = json.loads(raw.decode("utf-8"))
    assert len(raw.decode("utf-8").splitlines()) == 1
    assert "\x00" not in back["text"]
    back["text"].encode("utf-8")
    if "\x00" not in text and not any(0xD800 <= ord(c) < 0xE000 for c in text):
        assert back["text"] == text


def test_pairs_of_surrogates_join_and_lone_ones_are_replaced() -> None:
    assert scrub("\ud83d\ude00") == "\U0001f600"
    assert scrub("a\ud83d") == "a\ufffd"
    assert scrub({"k\x00": ["\x00", 1, None, True]}) == {"k\ufffd": ["\ufffd", 1, None, True]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-17", EventId(5, 17)),
        ("0-0", EventId(0, 0)),
        *[(bad, None) for bad in ("", "5", "-1", "5-", "a-b", "5-1\nevent: end", "٣-1", "5-1 ")],
        ("9" * 10_000 + "-1", None),
    ],
)
def test_ids_are_parsed_strictly(text: str, expected: EventId | None) -> None:
    assert EventId.parse(text) == expected
