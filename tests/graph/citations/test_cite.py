import pytest

from graph.citations.cited import cite
from graph.citations.numbering import Numbering
from tests.graph.citations.evidence import ALL, CANCEL, LEASE, assert_exact, source


@pytest.mark.parametrize(
    ("raw", "markdown", "order"),
    [
        ("The lease lasts [S2].", "The lease lasts [1].", [2]),
        ("Both [S2][S1].", "Both [1][2].", [2, 1]),
        ("Both [S2, S1] say.", "Both [1][2] say.", [2, 1]),
        ("Both [S1-S3].", "Both [1][2][3].", [1, 2, 3]),
        ("Lower [s2] and (S1).", "Lower [1] and [2].", [2, 1]),
        ("租约【S3】与［Ｓ3］。".replace("Ｓ", "S"), "租约[1]与[1]。", [3]),
        ("Escaped \\[S1\\] here.", "Escaped [1] here.", [1]),
        ("Late. [S1] Next [S2].", "Late [1]. Next [2].", [1, 2]),
        ("结束。[S3]下一句[S2]。", "结束[1]。下一句[2]。", [3, 2]),
        ("Unknown [S9] goes [S1].", "Unknown goes [1].", [1]),
        ("Only `[S1]` in code.", "Only `[S1]` in code.", []),
        ("A [S1](see) b.", "A [1] b.", [1]),
        ("A [S1] (see) b.", "A [1] (see) b.", [1]),
    ],
)
def test_marks_in_all_spellings(raw: str, markdown: str, order: list[int]) -> None:
    numbers = Numbering()
    done = cite(raw, ALL, numbers)
    assert done.markdown == markdown
    assert numbers.order == order
    assert_exact(done.citations, ALL)


def test_a_bracketed_name_of_the_source_is_no_mark() -> None:
    evidence = [source(3, "Simple Storage (S3) keeps objects in buckets for a long time.")]
    assert cite("Storage (S3) keeps [S3].", evidence, Numbering()).markdown == (
        "Storage (S3) keeps [1]."
    )


def test_a_verbatim_sentence_is_quoted_whole_and_without_markup() -> None:
    done = cite(
        "It is **renewed every 10 seconds**  by a thread of its own [S2].", ALL, Numbering()
    )
    assert [c["quote"] for c in done.citations] == [
        "It is renewed every 10 seconds by a thread of its own."
    ]


def test_a_reworded_sentence_cites_the_sentence_that_holds_most_of_it() -> None:
    done = cite("Cancels are repeated until a task has ended [S1].", ALL, Numbering())
    assert [c["quote"] for c in done.citations] == [
        "Cancelling is repeated until the task is done."
    ]


def test_the_passage_is_chosen_among_those_of_one_source() -> None:
    done = cite("A dead worker's lease runs out, the reaper requeues [S1].", ALL, Numbering())
    assert done.citations[0]["quote"].startswith("When a worker dies")
    assert_exact(done.citations, ALL)


def test_numbers_go_on_over_sections() -> None:
    numbers = Numbering()
    cite("The lease lasts [S2].", ALL, numbers)
    done = cite("A cancel is an intent [S1] under a lease [S2].", ALL, numbers)
    assert done.markdown == "A cancel is an intent [2] under a lease [1]."
    assert numbers.order == [2, 1]


def test_one_citation_for_each_printed_mark_in_order() -> None:
    done = cite(f"{CANCEL} [S1] {LEASE} [S2] Both [S2][S1].", ALL, Numbering())
    assert [c["number"] for c in done.citations] == [1, 2, 2, 1]


def test_a_source_whose_text_is_gone_is_not_cited() -> None:
    done = cite("The lease lasts [S5].", [*ALL, source(5, "  ")], Numbering())
    assert done.markdown == "The lease lasts."
    assert done.citations == []
