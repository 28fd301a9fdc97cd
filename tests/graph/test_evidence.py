"""Evidence: spans become text under its heading; what is excluded or gone is left out."""

from typing import Any, cast

from graph.evidence import findings_of, load, spans_of, texts
from graph.ports import Ref
from graph.state import State
from tests.graph.shelf import Shelf

PLAIN = (
    "A title\n\nHow leases end\n\nA lease ends after 30 seconds. It may be renewed.\n\n"
    "This paragraph ends with a stop.\n\nAnd so the next one has no heading.\n\n"
    "curl -N $A/$T/events\n\nThe next words follow a line of code.\n\n"
    "见证\n\n租约在三十秒之后结束。"
)


def ref(words: str) -> Ref:
    at = PLAIN.index(words)
    return Ref("plain", at, at + len(words))


async def test_the_line_right_above_a_passage_is_its_heading() -> None:
    shelf = Shelf({"plain": PLAIN})
    wanted = {
        "A lease ends after 30 seconds.": "How leases end",
        "It may be renewed.": "",  # follows a sentence on its line
        "And so the next one has no heading.": "",  # follows a paragraph
        "The next words follow a line of code.": "",
        "租约在三十秒之后结束。": "见证",
        "A title": "",  # nothing stands above it
    }
    found = await texts(shelf, [ref(words) for words in wanted])
    assert found == list(wanted.items())
    assert await texts(shelf, []) == []


def state_of(**changes: Any) -> State:
    spans = [
        {"n": 1, "start": 0, "end": 5, "score": 0.2},
        {"n": 2, "start": 0, "end": 5, "score": 0.9},
        {"n": 3, "start": 0, "end": 5, "score": 0.5},
    ]
    known = {
        str(n): {"n": n, "key": key, "url": key, "title": key, "date": None, "kind": "document"}
        for n, key in enumerate(("a", "b", "gone"), 1)
    }
    made: dict[str, Any] = {"evidence": {"s1": spans, "s2": spans[:1]}, "sources": known, **changes}
    return cast("State", cast("object", made))


async def test_evidence_is_ordered_by_pin_then_by_score_each_span_once() -> None:
    ids = ["s1", "s2"]
    assert [s["n"] for s in spans_of(state_of(), ids)] == [2, 3, 1]
    assert [s["n"] for s in spans_of(state_of(pinned=[1]), ids)] == [1, 2, 3]
    assert [s["n"] for s in spans_of(state_of(excluded=[2]), ids)] == [3, 1]
    loaded = await load(state_of(pinned=[1]), Shelf({"a": "first", "b": "other"}), ids)
    assert [(e.n, e.text, e.pinned) for e in loaded] == [(1, "first", True), (2, "other", False)]


def test_a_finding_that_leans_on_an_excluded_source_does_not_count() -> None:
    mark = {"start": 0, "end": 1}
    findings = [
        {"step": "s1", "text": "a", "citations": [{"n": 1, **mark}]},
        {"step": "s1", "text": "b", "citations": [{"n": 1, **mark}, {"n": 2, **mark}]},
        {"step": "s2", "text": "c", "citations": [{"n": 2, **mark}]},
    ]
    state = state_of(findings=findings, excluded=[2])
    assert [f["text"] for f in findings_of(state, ["s1", "s2"])] == ["a"]
