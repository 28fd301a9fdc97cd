from hypothesis import given
from hypothesis import strategies as st

from app.providers.tidy import Tidy
from app.providers.tokens import estimate


def tidied(pieces: list[str]) -> str:
    tidy = Tidy()
    return "".join([*(tidy.feed(piece) for piece in pieces), tidy.end()])


def test_thoughts_are_left_out_wherever_the_chunks_are_cut() -> None:
    text = "<think>a <b> secret</think>\n\nThe answer.\n<thinking>more</thinking> Done."
    for size in range(1, len(text)):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert tidied(pieces) == "The answer.\nDone.", size


def test_a_thought_that_never_ends_is_dropped() -> None:
    assert tidied(["<thi", "nk>on and", " on"]) == ""


def test_a_tag_in_the_middle_of_a_line_or_in_code_is_text() -> None:
    text = "It drops `<think>` blocks and <think> tags, and <this> too."
    assert tidied(list(text)) == text


def test_text_that_only_begins_like_a_tag_is_not_held_for_long() -> None:
    tidy = Tidy()
    assert tidy.feed("<thi") == ""
    assert tidy.feed("s is text") == "<this is text"


def test_surrogate_halves_in_two_chunks_are_joined_and_lone_ones_replaced() -> None:
    assert tidied(["a\ud83d", "\ude00b"]) == "a\U0001f600b"
    assert tidied(["a\ud83d", "b\ude00", "\x00", "\ud83d"]) == "a\ufffdb\ufffd\ufffd\ufffd"


@given(st.lists(st.text(alphabet="ab \n\r<>/think`é🙂", max_size=12), max_size=12))
def test_any_cut_gives_the_text_of_the_whole(pieces: list[str]) -> None:
    assert tidied(pieces) == tidied(["".join(pieces)])


@given(st.text(max_size=60).filter(lambda t: "<" not in t and "\x00" not in t))
def test_text_without_tags_passes_unchanged(text: str) -> None:
    assert tidied(list(text)) == text


def test_tokens_are_estimated_by_script() -> None:
    assert [estimate(t) for t in ("", "a", "word word word", "汉字测试", "汉字 word")] == [
        0,
        1,
        3,
        4,
        3,
    ]
