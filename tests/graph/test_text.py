"""Texts: sentences with exact offsets, languages by script and model, clean strings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.requirements import allowed, host_matches
from graph.start import start_input
from graph.text.clean import clean, one_line, scrub
from graph.text.language import detect, resolve
from graph.text.phrases import listed, phrase
from graph.text.sentences import blocks, sentences
from tests.graph.shelf import TEXTS

MIXED = """# A title

Dr. Smith wrote version 1.2.3. It runs at about 40 % of
the time, e.g. at night! Does it?

- first item
  goes on. And ends.
- second item without a stop

| a | b |
| - | - |

```python
x = 1. Not prose.
```

    indented code. Not prose.

> A quote. Two of them.

Setext heading
---
他说：“你好。”然后走了。真的吗？是的！
"""


def test_sentences_of_markdown_leave_out_what_is_no_prose() -> None:
    found = [MIXED[s.start : s.end] for s in sentences(MIXED)]
    assert found == [
        "Dr. Smith wrote version 1.2.3.",
        "It runs at about 40 % of\nthe time, e.g. at night!",
        "Does it?",
        "first item\n  goes on.",
        "And ends.",
        "second item without a stop",
        "A quote.",
        "Two of them.",
        "他说：“你好。”",
        "然后走了。",
        "真的吗？",
        "是的！",
    ]


def test_headings_and_blocks_are_told_apart() -> None:
    kinds = [b.kind for b in blocks(MIXED)]
    assert kinds.count("heading") == 2
    assert kinds.count("item") == 2
    assert {"table", "code", "quote", "paragraph"} <= set(kinds)
    headings = {MIXED[s.start : s.end]: s.heading for s in sentences(MIXED)}
    assert headings["Does it?"] == "A title"
    assert headings["是的！"] == "Setext heading"


def test_lines_of_plain_text_that_end_early_end_a_sentence() -> None:
    text = (
        "Notes of the meeting\n"
        "The first line of a paragraph that was broken to fit into a page of\n"
        "normal width ends here.\n"
    )
    found = [text[s.start : s.end] for s in sentences(text)]
    assert found[0] == "Notes of the meeting"
    assert found[1].startswith("The first line")
    assert found[1].endswith("ends here.")


@given(st.text(max_size=400))
def test_spans_lie_in_the_text_in_order_and_hold_words(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        assert last <= sentence.start < sentence.end <= len(text)
        assert text[sentence.start : sentence.end].strip() == text[sentence.start : sentence.end]
        last = sentence.end


def test_real_texts_are_whole_sentences() -> None:
    for path in TEXTS.glob("*.md"):
        text = path.read_text("utf-8")
        for sentence in sentences(text):
            assert text[sentence.end - 1] in ".!?。！？", text[sentence.start : sentence.end]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("How does a cancel reach a run on another worker?", "en"),
        ("任务取消如何到达另一个 worker？", "zh"),
        ("Redis 的 lease 是什么", "zh"),
        ("取消", "zh"),
        ("What does 取消 mean in this code base?", "en"),
        ("どうやってキャンセルが届きますか", "ja"),
        ("취소는 어떻게 도착하나요", "ko"),
        ("Wie erreicht ein Abbruch einen Lauf auf einem anderen Rechner?", "de"),
        ("Как работает отмена?", "ru"),
        ("Redis", "en"),
        ("", "en"),
        ("123 ???", "en"),
        ("`task:cancel` https://example.org/a_b", "en"),
    ],
)
def test_languages_are_found_without_a_network(text: str, code: str) -> None:
    assert detect(text) == code


def test_a_named_language_wins() -> None:
    assert resolve("zh-CN", "How?") == "zh"
    assert resolve("en", "如何取消") == "en"
    assert resolve("auto", "如何取消") == "zh"
    assert resolve("<script>", "如何取消") == "zh"


@given(st.text(st.characters(codec=None), max_size=60))
def test_a_scrubbed_text_can_be_sent_and_is_left_alone_otherwise(text: str) -> None:
    done = scrub(text)
    assert "\x00" not in done
    done.encode("utf-8")
    if "\x00" not in text and not any("\ud800" <= c <= "\udfff" for c in text):
        assert done == text


def test_f48_halves_that_stand_together_are_joined() -> None:
    """Field case F48: half a pair is replaced, two halves are one character."""
    assert scrub("\ud83d\ude00 \ud83d x") == "😀 \ufffd x"
    assert scrub("a\\u0000b") == "a\\u0000b"  # the six characters written out stay
    assert clean("<think>secret</think>Said.<think>open") == "Said."


def test_one_line_cuts_at_code_points() -> None:
    assert one_line(" a\n\n b\t c ") == "a b c"
    assert one_line("取消\n请求") == "取消请求"
    assert one_line("😀" * 10, 5) == "😀😀😀😀…"


def test_both_tables_of_phrases_say_the_same_things() -> None:
    from graph.text import phrases  # noqa: PLC0415

    tables = phrases._TABLES
    assert tables["en"].keys() == tables["zh"].keys()
    assert phrase("de", "summary") == "Summary"
    assert listed("zh", ["甲", "乙"]) == "甲；乙"


@pytest.mark.parametrize(
    ("url", "domains", "found"),
    [
        ("https://news.b.example/x", ["b.example"], True),
        ("https://b.example.evil.test/", ["b.example"], False),
        ("https://notb.example/", ["b.example"], False),
        ("https://B.Example./", ["https://www.b.example:443/path"], True),
        ("document:b.example", ["b.example"], False),
        ("https://[::1", ["b.example"], False),
        ("https://b.example", [""], False),
    ],
)
def test_domains_match_whole_labels(url: str, domains: list[str], found: bool) -> None:
    assert host_matches(url, domains) is found
    assert allowed(url, [], domains) is not found


def test_a_start_fills_in_what_was_not_asked() -> None:
    state = start_input(
        thread_id="t",
        owner="o",
        question=" 如何\x00取消 ",
        language="auto",
        request={"depth": "deep", "deny_domains": ["a.example"], "priority": "high"},
    )
    assert state["question"] == "如何\ufffd取消"
    assert state["language"] == "zh"
    assert state["request"]["depth"] == "deep"
    assert state["request"]["review_plan"] is True
    assert "priority" not in state["request"]
    assert state.get("deny_domains") == ["a.example"]
