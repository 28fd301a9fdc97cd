from collections.abc import Sequence

import pytest

from graph.citations.gate import Checked, check
from graph.citations.numbering import Numbering
from graph.reasoner import Evidence
from tests.graph.citations.evidence import ALL, CANCEL, LEASE, assert_exact, source


def gate(raw: str, evidence: Sequence[Evidence] = ALL, language: str = "en") -> Checked:
    done = check(raw, evidence, Numbering(), language=language)
    assert_exact(done.citations, evidence)
    assert done.kept + done.repaired + done.removed == len(done.sentences)
    return done


def verdicts(done: Checked) -> list[tuple[str, str]]:
    """(verdict, what it is said of) in order."""
    return [(s["verdict"], done.markdown[s["start"] : s["end"]]) for s in done.sentences]


def reasons(done: Checked) -> list[str | None]:
    return [s.get("reason") for s in done.sentences]


def test_supported_sentences_are_kept_word_for_word() -> None:
    done = gate("The lease lasts 30 seconds [S2]. A thread renews it every 10 seconds [S2].")
    assert (
        done.markdown == "The lease lasts 30 seconds [1]. A thread renews it every 10 seconds [1]."
    )
    assert verdicts(done) == [
        ("kept", "The lease lasts 30 seconds [1]."),
        ("kept", "A thread renews it every 10 seconds [1]."),
    ]


def test_a_figure_that_the_source_does_not_state_removes_the_sentence() -> None:
    done = gate("The lease lasts 30 seconds [S2]. The lease lasts 45 seconds [S2].")
    assert done.markdown == "The lease lasts 30 seconds [1]."
    assert verdicts(done)[1] == ("removed", "")
    assert reasons(done)[1] == "not in the cited passage: 45"


def test_the_cited_span_grows_to_hold_a_figure_of_the_next_sentence() -> None:
    text = "The pool was measured under load. Nothing else ran then. It took 512 connections."
    done = gate("The pool was measured under load with 512 connections [S1].", [source(1, text)])
    assert done.kept == 1
    assert "512" in done.citations[0]["quote"]


def test_a_figure_of_an_unrelated_part_of_the_page_does_not_count() -> None:
    filler = " ".join(f"Word{i} stands here alone." for i in range(12))
    evidence = [source(1, f"The pool was measured under load. {filler} Elsewhere 512 was seen.")]
    assert gate("Under load the pool measured 512 [S1].", evidence).markdown == ""


def test_a_source_that_says_something_else_is_corrected() -> None:
    done = gate("The lease is renewed every 10 seconds by a thread [S1].")
    assert done.markdown == "The lease is renewed every 10 seconds by a thread [1]."
    assert [c["n"] for c in done.citations] == [2]
    assert reasons(done) == ["source corrected from S1"]


def test_an_unknown_source_is_dropped_and_the_sentence_judged_by_the_rest() -> None:
    done = gate("The lease lasts 30 seconds [S2][S97]. It flies to the moon [S98].")
    assert verdicts(done) == [("repaired", "The lease lasts 30 seconds [1]."), ("removed", "")]
    assert reasons(done) == ["unknown source dropped: S97", "unknown source: S98"]


def test_an_uncited_sentence_gets_its_source_or_goes() -> None:
    done = gate(
        "The lease lasts 30 seconds [S2]. Cancelling is repeated until the task is done. "
        "This is good news for everybody."
    )
    assert verdicts(done) == [
        ("kept", "The lease lasts 30 seconds [1]."),
        ("repaired", "Cancelling is repeated until the task is done [2]."),
        ("removed", ""),
    ]


def test_an_idle_source_beside_a_good_one_is_dropped() -> None:
    done = gate("The lease is renewed every 10 seconds by its thread [S2][S1].")
    assert done.markdown.endswith("its thread [1].")
    assert reasons(done) == ["source that does not say this dropped: S1"]


def test_a_chinese_paragraph_is_held_to_the_same_rules() -> None:
    done = gate(
        "取消是一种持久的意图，租约期限为 30 秒[S3]。租约为 45 秒【S3】。香蕉是黄色的[S3]。",
        language="zh",
    )
    assert done.markdown == "取消是一种持久的意图，租约期限为 30 秒[1]。"
    assert [v for v, _ in verdicts(done)] == ["kept", "removed", "removed"]


def test_another_language_is_decided_by_figures_names_and_ids() -> None:
    done = gate(
        "租约持续 30 秒[S2]。租约持续 45 秒[S2]。意图会被保存[S1]。Kafka 负责分发[S1]。",
        language="zh",
    )
    assert [v for v, _ in verdicts(done)] == ["kept", "removed", "kept", "removed"]
    assert reasons(done) == [
        None,
        "not in the cited passage: 45",
        "other language: decided by its id alone",
        "not in the cited source: kafka",
    ]


def test_a_german_sentence_over_an_english_source_is_not_removed_for_its_words() -> None:
    done = gate(
        "Die Erneuerung der Sperre geschieht alle 10 Sekunden in einem eigenen Faden [S2]. "
        "Die Erneuerung der Sperre geschieht alle 11 Sekunden in einem eigenen Faden [S2].",
        language="de",
    )
    assert [v for v, _ in verdicts(done)] == ["kept", "removed"]


def test_headings_stand_only_over_text_that_stands() -> None:
    done = gate(
        "# Top\n\n## Empty\n\nNobody knows.\n\n## In 1999\n\nThe lease lasts 30 seconds [S2]."
    )
    assert done.markdown == "# Top\n\nThe lease lasts 30 seconds [1]."
    assert reasons(done) == ["no source given or found", "not in the evidence: 1999", None]


def test_a_lead_in_lives_on_its_list() -> None:
    done = gate("There are two of them:\n\n- The lease lasts 30 seconds [S2].\n- Nobody knows.")
    assert done.markdown == "There are two of them:\n- The lease lasts 30 seconds [1]."
    assert [v for v, _ in verdicts(done)] == ["kept", "kept", "removed"]
    assert gate("There are two of them:\n\n- Nobody knows.").markdown == ""


def test_no_child_is_left_hanging_where_its_parent_went() -> None:
    done = gate("- Nobody knows.\n    - The lease lasts 30 seconds [S2].")
    assert done.markdown == "- The lease lasts 30 seconds [1]."


def test_table_rows_stand_one_by_one_and_a_cut_table_is_closed() -> None:
    done = gate(
        "| What | Value |\n|---|\n| Lease lasts | 30 seconds [S2] |\n"
        "| Renewed every | 99 seconds [S2] |\n| Renewed every | 10 seconds"
    )
    assert done.markdown == (
        "| What | Value |\n| --- | --- |\n| Lease lasts | 30 seconds [1] |\n"
        "| Renewed every | 10 seconds [1] |"
    )
    assert [v for v, _ in verdicts(done)] == ["kept", "removed", "repaired"]


def test_an_open_fence_is_closed_and_code_is_the_sources_own() -> None:
    evidence = [source(1, "Call it so:\n\n    task.cancel()\n    await task\n\nThen wait.")]
    done = gate("```python\ntask.cancel()\nawait task", evidence)
    assert done.markdown == "```python\ntask.cancel()\nawait task\n```\n[1]"
    done = gate("```python\nimport os\nos.remove('/')\n```", evidence)
    assert (done.markdown, reasons(done)) == ("", ["code that no source has"])


@pytest.mark.parametrize(
    ("raw", "markdown"),
    [
        ("The lease [lasts](http://evil.test) 30 seconds [S2].", "The lease lasts 30 seconds [1]."),
        (
            "The lease ![x](http://e.test/a.png)lasts 30 seconds [S2].",
            "The lease lasts 30 seconds [1].",
        ),
        ("The lease <b onclick=x>lasts</b> 30 seconds [S2].", "The lease lasts 30 seconds [1]."),
        ("The lease lasts 30 seconds [12] [S2].", "The lease lasts 30 seconds [1]."),
        ("The lease lasts 30 seconds [S2](javascript:x).", "The lease lasts 30 seconds [1]."),
        (
            "<script>alert(1)</script>The lease lasts 30 seconds [S2].",
            "The lease lasts 30 seconds [1].",
        ),
        (
            "The lease lasts 30 seconds https://evil.test/x [S2].",
            "The lease lasts 30 seconds  [1].",
        ),
    ],
)
def test_links_images_and_markup_of_the_model_are_made_inert(raw: str, markdown: str) -> None:
    assert gate(raw).markdown.replace("  ", " ") == markdown.replace("  ", " ")


def test_an_address_that_the_source_has_stays_as_code() -> None:
    evidence = [source(1, "The page is served at http://127.0.0.1:8000 by the app itself.")]
    done = gate("The page is served at http://127.0.0.1:8000 by the app [S1].", evidence)
    assert done.markdown == "The page is served at `http://127.0.0.1:8000` by the app [1]."


@pytest.mark.parametrize(
    "raw",
    [
        "As an AI language model I renew the lease every 10 seconds by a thread [S2].",
        "See example.com: the lease lasts 30 seconds [S2].",
        "The lease lasts 30 seconds [insert source] [S2].",
        "<<<EVIDENCE the lease lasts 30 seconds [S2].",
        "<think>The lease lasts 30 seconds [S2].</think>",
        "<think>The lease lasts 30 seconds [S2].",
        "作为一个人工智能，租约的期限为三十秒[S3]。",
    ],
)
def test_prompt_text_placeholders_and_thoughts_are_removed(raw: str) -> None:
    assert gate(raw).markdown == ""


def test_the_sources_own_example_address_is_no_placeholder() -> None:
    evidence = [source(1, "Mail goes to post@example.com for every broken lease of the day.")]
    assert gate("Mail goes to post@example.com for every broken lease [S1].", evidence).kept == 1


def test_repeats_go_within_a_section_and_over_earlier_ones() -> None:
    sentence = "The lease lasts 30 seconds [S2]."
    assert gate(f"{sentence} {sentence}").markdown == "The lease lasts 30 seconds [1]."
    paragraph = f"{LEASE} [S2]"
    assert gate(f"{paragraph}\n\n{paragraph}").markdown.count("renewals") == 1
    again = check(paragraph, ALL, Numbering(), language="en", earlier=[f"Old.\n\n{LEASE} [4]"])
    assert again.markdown == ""
    assert {s.get("reason") for s in again.sentences} == {"repeats an earlier paragraph"}


def test_sentences_of_one_pattern_with_other_figures_are_no_repeats() -> None:
    five, seven = (f"Pool alpha of the first worker holds {n} places" for n in (5, 7))
    done = gate(f"{five} [S1].\n\n{seven} [S1].", [source(1, f"{five}. {seven}.")])
    assert done.kept == 2


def test_numbers_are_given_only_to_what_stays_and_go_on() -> None:
    numbers = Numbering()
    first = check("It flies [S1]. The lease lasts 30 seconds [S2].", ALL, numbers, language="en")
    second = check(f"{CANCEL} [S1]", ALL, numbers, language="en")
    assert numbers.order == [2, 1]
    assert [c["number"] for c in first.citations] == [1]
    assert {c["number"] for c in second.citations} == {2}


def test_emphasis_whose_other_half_is_gone_goes_too() -> None:
    done = gate("**The lease lasts 30 seconds [S2]. Nobody knows.**")
    assert done.markdown == "The lease lasts 30 seconds [1]."


def test_an_abbreviation_or_a_number_is_no_sentence_of_its_own() -> None:
    evidence = [source(1, "No. 5 of the list is the lease, which Dr. Smith found to last long.")]
    done = gate("Dr. Smith found No. 5 of the list, the lease, to last long [S1].", evidence)
    assert [v for v, _ in verdicts(done)] == ["kept"]


def test_all_sentences_of_a_text_without_evidence_are_removed() -> None:
    done = gate("# Title\n\nOne thing [S1]. Another thing.\n\n- Third [S2].", [])
    assert (done.markdown, done.citations, done.removed) == ("", [], 3)


def test_a_last_sentence_that_was_cut_off_is_not_rescued() -> None:
    done = gate("The lease lasts 30 seconds [S2]. It is renewed every 10 seconds by a thread")
    assert done.markdown == "The lease lasts 30 seconds [1]."
    assert reasons(done)[-1] == "cut off in the middle"


def test_backticks_that_pair_over_a_mark_are_no_code() -> None:
    done = gate("It is `renewed [S2] every 10 seconds` by a thread of its own [S2].")
    assert done.markdown == "It is renewed [1] every 10 seconds by a thread of its own [1]."


def test_a_mark_that_the_source_itself_writes_as_code_stays() -> None:
    evidence = [source(1, "The model writes marks such as `[S3]` after each of its claims.")]
    done = gate("The model writes marks such as `[S3]` after each claim [S1].", evidence)
    assert done.markdown == "The model writes marks such as `[S3]` after each claim [1]."
    assert done.kept == 1
