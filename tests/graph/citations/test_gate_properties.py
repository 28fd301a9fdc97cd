import re

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.citations.cited import cite
from graph.citations.gate import check
from graph.citations.numbering import Numbering
from tests.graph.citations.evidence import ALL, CANCEL, CHINESE, LEASE, REAPER, assert_exact, source

PRINTED = re.compile(r"(?<!`)\[(\d+)\]")
SENTENCES = [
    *(s + "." for text in (CANCEL, LEASE, REAPER) for s in text.rstrip(".").split(". ")),
    *(s + "。" for s in CHINESE.rstrip("。").split("。")),
    "Nobody knows.", "It took 4711 tries.", "Exactly 77% agreed in June 1999.", "香蕉是黄色的。",
]  # fmt: skip
MARKS = ["", "[S1]", " [S2]", "[S1][S3]", "[S2, S9]", "【S3】", "(S1)", "[S97]", "[7]", " [S1–S3]"]
PARTS = [
    "\n\n", "\n", " ", "# H\n", "## In 1999\n\n", "- ", "    1. ", "> ", "| a | b |\n|---|\n| ",
    " | ",
    "```\n", "**", "`", "<b>", "<!-- ", "[x](http://a.b)", "![i](x)", "<think>", "</think>", "\\",
    "\x00", "\ud800", "\ue001", "\U000f0000", "\u2028", "🙂", "…", "Points:\n", "https://a.test/x ",
]  # fmt: skip
RAW = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(SENTENCES), st.sampled_from(MARKS)).map(
            lambda pair: pair[0][:-1] + pair[1] + pair[0][-1] + " "
        ),
        st.sampled_from(PARTS),
        st.sampled_from(MARKS),
        st.text(max_size=12),
    ),
    max_size=24,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.lists(RAW, min_size=1, max_size=3), st.sampled_from(["en", "zh", "fr", "xx"]))
def test_whatever_comes_quotes_are_exact_numbers_contiguous_and_verdicts_whole(
    raws: list[str], language: str
) -> None:
    numbers = Numbering()
    seen: set[int] = set()
    earlier: list[str] = []
    for raw in raws:
        done = check(raw, ALL, numbers, language=language, earlier=earlier)
        earlier.append(done.markdown)
        assert_exact(done.citations, ALL)
        seen |= {c["number"] for c in done.citations}
        assert all(numbers.order[c["number"] - 1] == c["n"] for c in done.citations)
        assert done.kept + done.repaired + done.removed == len(done.sentences)
        end = 0
        for sentence in done.sentences:
            assert end <= sentence["start"] <= sentence["end"] <= len(done.markdown)
            assert (sentence["start"] == sentence["end"]) == (sentence["verdict"] == "removed")
            assert sentence["verdict"] == "kept" or sentence.get("reason")
            end = sentence["end"]
        prose = re.sub(r"(?s)```.*?```|`[^`\n]+`", "", done.markdown)
        for number in PRINTED.findall(prose):
            assert 1 <= int(number) <= len(numbers.order)
        assert "<think" not in prose
        assert "](" not in prose
        done.markdown.encode()
    assert seen == set(range(1, len(numbers.order) + 1))


@settings(max_examples=200, deadline=None)
@given(RAW)
def test_a_checked_text_passes_again_unchanged_in_number(raw: str) -> None:
    first = check(raw, ALL, Numbering(), language="en")
    second = check(raw, ALL, Numbering(), language="en")
    assert first == second


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.text(min_size=1, max_size=200), RAW)
def test_cite_is_exact_over_any_text(head: str, body: str, raw: str) -> None:
    evidence = [source(1, body), source(2, f"{head} {body}"), source(3, CHINESE)]
    numbers = Numbering()
    done = cite(raw + body[:60] + "[S1] [S2]", evidence, numbers)
    assert_exact(done.citations, evidence)
    assert sorted({c["number"] for c in done.citations}) == list(range(1, len(numbers.order) + 1))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(SENTENCES[:7]), min_size=1, max_size=6, unique=True))
def test_verbatim_sentences_with_their_source_are_all_kept(sentences: list[str]) -> None:
    homes = {1: CANCEL + REAPER, 2: LEASE}
    raw = " ".join(
        f"{s[:-1]} [S{next(n for n, text in homes.items() if s[:-1] in text)}]." for s in sentences
    )
    done = check(raw, ALL, Numbering(), language="en")
    assert (done.removed, done.repaired) == (0, 0)
    assert [c["quote"] for c in done.citations] == sentences
