"""Passages: exact, whole, of a bearable length, each under its headings."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app.library.formats.parsed import Block, Laid, lay_out
from app.library.passages import LARGEST, cut, words_in
from tests.services import PROJECT

SENTENCE = "The owner renews the lease at a third of its term, so two hints may be lost. "


def covered(laid: Laid) -> str:
    return "".join("".join(laid.text[c.start : c.end].split()) for c in cut(laid))


def test_short_blocks_are_joined_and_long_ones_cut_at_sentence_ends() -> None:
    laid = lay_out([Block(SENTENCE.strip())] * 20 + [Block((SENTENCE * 60).strip())])
    pieces = [laid.text[c.start : c.end] for c in cut(laid)]
    assert all(80 <= words_in(piece) <= LARGEST for piece in pieces[:-1])
    assert all(piece.startswith("The owner") and piece.endswith("lost.") for piece in pieces)


def test_a_passage_knows_the_headings_above_it_and_does_not_hold_them() -> None:
    long = Block((SENTENCE * 6).strip())
    laid = lay_out([Block("Leases", 1), long, Block("Renewal", 2), long, Block("Epochs", 1), long])
    assert [c.context for c in cut(laid, "Manual")] == [
        "Manual\nLeases",
        "Manual\nLeases\nRenewal",
        "Manual\nEpochs",
    ]
    assert [c.heading for c in cut(laid, "Manual")] == ["Leases", "Renewal", "Epochs"]
    assert not any("Renewal" in laid.text[c.start : c.end] for c in cut(laid))


def test_tiny_sections_stay_together() -> None:
    laid = lay_out([Block("One", 2), Block("A word."), Block("Two", 2), Block("Another.")])
    assert len(cut(laid)) == 1


def test_headings_alone_are_the_text() -> None:
    laid = lay_out([Block("One", 1), Block("Two", 2)])
    assert [laid.text[c.start : c.end] for c in cut(laid)] == ["One\n\nTwo"]


def test_chinese_passages_have_a_few_hundred_characters() -> None:
    laid = lay_out(
        [Block("服务重启之后，中断的研究会从最后一个检查点继续，已经写好的章节不会重写。" * 40)]
    )
    pieces = [laid.text[c.start : c.end] for c in cut(laid)]
    assert all(150 <= len(piece) <= 450 for piece in pieces)
    assert all(piece.endswith("。") for piece in pieces)


def test_text_without_any_break_is_cut_all_the_same() -> None:
    laid = lay_out([Block("x" * 250_000)])
    assert covered(laid) == laid.text
    assert all(c.end - c.start <= 4000 for c in cut(laid))


def test_documents_of_this_project_are_covered_without_overlap() -> None:
    for path in (PROJECT / "docs").glob("**/*.md"):
        blocks = [Block(part) for part in path.read_text("utf-8").split("\n\n")]
        laid = lay_out(blocks)
        pieces = cut(laid)
        assert all(a.end <= b.start for a, b in pairwise(pieces))
        assert covered(laid) == "".join(laid.text.split())


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=400), min_size=1, max_size=12), st.integers(0, 3))
def test_nothing_of_any_text_is_lost(parts: list[str], level: int) -> None:
    blocks = [Block(part, level if number % 3 == 1 else 0) for number, part in enumerate(parts)]
    if not any(part.strip("\n").strip() for part in parts):
        return
    laid = lay_out(blocks)
    pieces = cut(laid)
    assert pieces
    assert all(0 <= c.start < c.end <= len(laid.text) for c in pieces)
    assert all(a.end <= b.start for a, b in pairwise(pieces))
    body = [s for s in laid.spans if not s.level] or list(laid.spans)
    held = "".join(laid.text[c.start : c.end] for c in pieces)
    for span in body:
        for word in laid.text[span.start : span.end].split():
            assert word in held
