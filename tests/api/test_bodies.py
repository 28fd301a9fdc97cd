"""Bodies as bytes: what is cleaned, what is refused, and with which words."""

import pytest
from pydantic import ValidationError

from app.api.errors import describe_validation
from app.api.json_body import parse_json
from app.api.problems import Refused
from app.api.schemas import Modify, Start


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (rb'{"q": "a\u0000b"}', {"q": "a\ufffdb"}),
        (rb'{"q": "a\ud83d"}', {"q": "a\ufffd"}),
        (rb'{"q": "\ud83d\ude00"}', {"q": "\U0001f600"}),
        (b'{"q": "a\xed\xa0\xbd"}', {"q": "a\ufffd"}),
        (rb'{"q": "\\u0000"}', {"q": "\\u0000"}),
        (b'\xef\xbb\xbf{"q": 1}', {"q": 1}),
    ],
)
def test_strings_are_cleaned(raw: bytes, expected: object) -> None:
    assert parse_json(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b'{"q": NaN}',
        b'{"q": Infinity}',
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 10_000,
        b'{"q": "a\nb"}',
    ],
)
def test_what_is_not_json_is_one_line(raw: bytes) -> None:
    with pytest.raises(Refused) as caught:
        parse_json(raw)
    assert caught.value.problem.status == 422
    assert "\n" not in caught.value.problem.detail


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": "   \n\t"},
        {"question": "x" * 8001},
        {"question": 5},
        {"question": None},
        {"question": ["a"]},
        {"question": "a", "unknown": 1},
        {"question": "a", "web": False, "documents": False},
        {"question": "a", "web": "false"},
        {"question": "a", "web": 0},
        {"question": "a", "depth": "deepest"},
        {"question": "a", "priority": "urgent"},
        {"question": "a", "language": "no such language"},
        {"question": "a", "max_tokens": 0},
        {"question": "a", "max_tokens": "10"},
        {"question": "a", "max_tokens": 1.5},
        {"question": "a", "max_seconds": True},
        {"question": "a", "allow_domains": "example.org"},
        {"question": "a", "deny_domains": ["https://example.org/"]},
        [],
        "question",
    ],
)
def test_a_start_is_strict(body: object) -> None:
    with pytest.raises(ValidationError) as caught:
        Start.model_validate(body)
    problem = describe_validation(caught.value.errors())
    assert problem.status == 422
    assert "\n" not in problem.detail


def test_a_start_of_8000_characters_outside_the_basic_plane_is_taken() -> None:
    start = Start(question="\U0001f600" * 8000, allow_domains=["Example.org"])
    assert start.allow_domains == ["example.org"]
    assert "priority" not in start.work()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": None},
        {"message": "  "},
        {"exclude_sources": []},
        {"exclude_sources": [0]},
        {"pin_sources": ["1"]},
        {"exclude_domains": [""]},
    ],
)
def test_a_requirement_says_something(body: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Modify.model_validate(body)


def test_a_fault_is_named_by_its_field_and_never_repeats_what_was_sent() -> None:
    with pytest.raises(ValidationError) as caught:
        Start.model_validate({"question": "a", "depth": "my secret"})
    problem = describe_validation(caught.value.errors())
    assert problem.detail.startswith("depth: ")
    assert "my secret" not in str(problem.body())
