"""Words: folding, stemming, identifiers, scripts without spaces."""

import pytest

from graph.text.words import query_terms, terms


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("How does a cancel reach a run on another worker?", ["cancel", "reach", "run", "worker"]),
        ("the channel task:cancel", ["task:cancel", "task", "cancel"]),
        ("after kill -9 or SIGTERM", ["kill", "-9", "9", "sigterm"]),
        ("DRAIN_SECONDS", ["drain_seconds", "drain", "second"]),
        ("TaskRegistry", ["taskregistry", "task"]),
        ("C++ and C#", ["c++", "c#"]),
        ("workers’ and worker's", ["worker", "worker"]),
        ("ＡＢＣ café", ["abc", "cafe"]),
        ("boundary-layer", ["boundari", "layer"]),
        ("--json", ["--json", "json"]),
        ("数据库 pool", ["数据", "据库", "数据库", "pool"]),
        ("東京タワー", ["東京", "タワ"]),
        ("세계", ["세계"]),
        ("猫", ["猫"]),
    ],
)
def test_terms_hold_what_a_reader_would_look_for(text: str, wanted: list[str]) -> None:
    found = terms(text)
    for term in wanted:
        assert term in found


def test_empty_words_are_left_out() -> None:
    assert terms("what is the and of it") == []
    assert query_terms("这是什么？") == []


def test_a_two_character_word_is_found_wherever_it_stands() -> None:
    index = set(terms("系统在线运行时如何取消另一个进程上的任务"))
    for word in ("在线", "取消", "进程", "任务", "运行"):
        assert set(query_terms(word)) <= index


def test_pairs_of_a_question_do_not_reach_across_empty_words() -> None:
    assert query_terms("如何取消运行的任务？") == ["取消", "消运", "运行", "任务"]


def test_encoded_data_is_no_word() -> None:
    assert terms("a" * 65) == []
    assert terms("\x00\ud800") == []
