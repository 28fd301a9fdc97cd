"""The state: plain JSON, small, and reducers that bear a repeated delivery."""

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.state import Requirement, by_id, by_step, extended, later, merged
from graph.values import values
from tests.graph.shelf import TEXTS, Shelf
from tests.graph.small_web import SmallWeb
from tests.graph.stage import Stage
from tests.graph.thinkers import Curious

QUESTION = "How does a cancel reach a run on another worker?"


async def test_a_deep_run_stays_under_200_kilobytes_of_plain_json() -> None:
    shelf = Shelf.of()
    pages = {
        f"https://{number}.example/{path.stem}": f"{path.read_text('utf-8')}\n\nVisit {number}."
        for number in range(6)
        for path in sorted(TEXTS.glob("[chle]*.md"))
    }
    stage = Stage(shelf, reasoner=Curious(), web=SmallWeb(shelf, pages))
    state = await stage.ask(QUESTION, review_plan=False, depth="deep")
    text = json.dumps(state, ensure_ascii=False)
    assert json.loads(text) == state
    assert len(state["plan"]) >= 10
    assert len(text.encode()) < 200_000
    page = max(pages.values(), key=len)
    assert page not in text  # text of sources stays out


async def test_f41_checkpoints_hold_no_type_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    """Field case F41: what a later release cannot import must not be in a checkpoint."""
    caplog.set_level(logging.WARNING)
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION)
    await stage.answer({"action": "approve"})
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    state = await stage.state()
    assert serde.loads_typed(serde.dumps_typed(state)) == state
    assert "Deserializing unregistered type" not in caplog.text
    assert json.loads(json.dumps(values(state))) == values(state)


ids = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda p: f"{p[0]}-{p[1]}")


@given(ids, ids)
def test_the_later_of_two_cursors_is_the_greater_pair(one: str, two: str) -> None:
    assert later(one, two) == later(two, one)
    assert later(one, later(one, two)) == later(one, two)
    assert later("", one) == one or one == "0-0"
    assert later("9-99", "10-1") == "10-1"


def wish(identity: str, status: str = "accepted") -> Requirement:
    made: Any = {
        "id": identity,
        "message": "m",
        "exclude_sources": [],
        "include_sources": [],
        "pin_sources": [],
        "exclude_domains": [],
        "status": status,
    }
    return made


def test_an_applied_requirement_stays_applied() -> None:
    applied = by_id([wish("a")], [wish("a", "applied")])
    assert [item["status"] for item in applied] == ["applied"]
    again = by_id(applied, [wish("a"), wish("b")])
    assert [(item["id"], item["status"]) for item in again] == [("a", "applied"), ("b", "accepted")]


def test_merged_updates_by_key_and_drops_by_none() -> None:
    assert merged({"a": 1, "b": 2}, {"b": None, "c": 3}) == {"a": 1, "c": 3}
    assert merged({}, {"a": None}) == {}


def test_extended_and_by_step_bear_a_repeat() -> None:
    record = {"query": "q"}
    assert extended(extended([], [record]), [record]) == [record]
    first: Any = [{"step": "s1", "text": "a", "citations": []}]
    second: Any = [{"step": "s1", "text": "b", "citations": []}]
    other: Any = [{"step": "s2", "text": "c", "citations": []}]
    assert by_step(by_step(first, other), second) == other + second
    assert by_step(first, first) == first
