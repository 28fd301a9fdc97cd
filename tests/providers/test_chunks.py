"""What endpoints send, read as bytes come: F65 and F61 tell of the shapes met in the field."""

import json
from typing import Any

import pytest

from app.providers.chunks import Reading


def frame(content: Any = None, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    body = {"object": "chat.completion.chunk", "choices": [choice], **more}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def read(data: bytes, size: int) -> tuple[str, Reading]:
    """All of the bytes in pieces of `size`, and the end of the body."""
    reading = Reading()
    parts = [reading.feed(data[i : i + size]) for i in range(0, len(data), size)]
    return "".join([*parts, reading.end()]), reading


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_text_is_the_same_however_the_bytes_are_cut(size: int) -> None:
    tokens = [
        "é",
        "\u2028\u2029\x85",
        "\x0b\x0c\x1c",
        "\r",
        "\n\n",
        "\r\n",
        "x\revent: end\rdata: {}",
    ]
    tokens += [":comment", "data: x", "  leading", "\ufeff", "", "🙂", "汉字"]
    data = b": hello\r\n\r\n" + b"".join(frame(t) for t in tokens) + frame(None, "stop")
    text, reading = read(data + b"data: [DONE]\n\n", size)
    assert text == "".join(tokens)
    assert (reading.finish, reading.done, reading.fault) == ("stop", True, None)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_three_line_ends_are_read(end: bytes) -> None:
    data = frame("one").replace(b"\n", end) + frame("two", "stop").replace(b"\n", end)
    assert read(data, 5)[0] == "onetwo"


def test_empty_choices_null_deltas_and_a_second_end_mean_nothing() -> None:
    data = (
        b'data: {"choices": []}\n\ndata: {"choices": null}\n\n'
        b'data: {"choices": [{"delta": null, "finish_reason": null}]}\n\n'
        + frame(None)
        + frame("ok", "stop")
        + b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}\n\n'
        + b"data: [DONE]\n\ndata: [DONE]\n\n"
    )
    text, reading = read(data, 9)
    assert text == "ok"
    assert reading.usage is not None
    assert reading.usage.completion_tokens == 1
    assert reading.fault is None


def test_content_in_typed_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert read(frame(parts, "stop"), 50)[0] == "ab"


def test_an_error_object_ends_it_after_the_text_that_came_before() -> None:
    data = (
        frame("so far ") + b'data: {"error": {"message": "boom sk-abcdef123456"}}\n\n' + frame("no")
    )
    text, reading = read(data, 100_000)
    assert text == "so far "
    assert reading.fault is not None
    assert reading.fault.slug == "model-error"
    assert "boom [key]" in str(reading.fault)


@pytest.mark.parametrize("body", [b"<html>\n<p>hello</p>\n", b"{oops}\n", b"data: {oops}\n\n"])
def test_what_is_no_stream_is_a_fault(body: bytes) -> None:
    _, reading = read(body, 4)
    assert reading.fault is not None
    assert reading.fault.slug == "model-answer"


def test_a_whole_answer_instead_of_a_stream_is_taken() -> None:
    choice = {"message": {"content": "All of it."}, "finish_reason": "stop"}
    text, reading = read(json.dumps({"choices": [choice]}).encode(), 10)
    assert (text, reading.finish) == ("All of it.", "stop")


def test_thoughts_in_a_field_of_their_own_are_life_but_no_text() -> None:
    reading = Reading()
    chunk = {"choices": [{"delta": {"reasoning_content": "hm"}}]}
    assert reading.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n") == ""
    assert reading.active
    assert reading.feed(b": keep-alive\n\n") == ""
    assert not reading.active


def test_a_lone_surrogate_passes_to_be_joined() -> None:
    data = b'data: {"choices": [{"delta": {"content": "a\\ud83d"}}]}\n\n'
    assert read(data, 100)[0] == "a\ud83d"
