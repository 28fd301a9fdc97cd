"""A process dies between or inside nodes: the same run goes on and the report is the same."""

from collections.abc import Mapping
from typing import Any

import pytest

from graph.values import report, values
from tests.graph.shelf import Shelf
from tests.graph.stage import Killed, Stage, rebuilt

QUESTION = "How does a cancel reach a run on another worker?"
NODES = ["intent", "scope", "plan", "retrieve", "read", "analyse", "reflect", "write", "verify"]


def dies_at(stage: Stage, event: str, field: str, wanted: Any, *, skip: int = 0) -> None:
    """The process dies when that event leaves; `skip` lets the first ones pass."""
    left = skip

    def kill(name: str, data: Mapping[str, Any]) -> None:
        nonlocal left
        if name == event and data.get(field) == wanted:
            left -= 1
            if left < 0:
                stage.sink.watch = lambda _name, _data: None
                raise Killed

    stage.sink.watch = kill


async def _undisturbed(**request: Any) -> dict[str, Any]:
    stage = Stage(Shelf.of())
    return values(await stage.ask(QUESTION, review_plan=False, **request))


@pytest.mark.parametrize("node", [*NODES, "finish"])
@pytest.mark.parametrize("event", ["node.started", "node.finished"])
async def test_a_death_at_any_node_changes_nothing_in_the_end(node: str, event: str) -> None:
    wanted = await _undisturbed()
    stage = Stage(Shelf.of())
    dies_at(stage, event, "node", node)
    with pytest.raises(Killed):
        await stage.ask(QUESTION, review_plan=False)
    stage.sink.epoch += 1
    state = await stage.go(None, same_run=True)
    got = values(state)
    assert got == wanted
    assert rebuilt(stage.sink.events) == {s["index"]: s["markdown"] for s in got["sections"]}


async def test_a_death_in_a_section_costs_that_section_alone() -> None:
    stage = Stage(Shelf.of())
    dies_at(stage, "token", "section", 2, skip=1)
    with pytest.raises(Killed):
        await stage.ask(QUESTION, review_plan=False)
    before = await stage.state()
    assert sorted(before["sections"]) == ["0", "1"]
    done = len(stage.sink.events)
    state = await stage.go(None, same_run=True)
    again = [d["index"] for _, n, d in stage.sink.events[done:] if n == "section.started"]
    assert again == list(range(2, len(state["sections"])))
    assert values(state) == await _undisturbed()


async def test_a_death_in_the_fan_out_repeats_only_what_was_not_done() -> None:
    stage = Stage(Shelf.of())
    dies_at(stage, "node.started", "step", "s2")
    with pytest.raises(Killed):
        await stage.ask(QUESTION, review_plan=False)
    before = len(stage.sink.events)
    state = await stage.go(None, same_run=True)
    assert values(state) == await _undisturbed()
    again = [d["step"] for _, n, d in stage.sink.events[before:] if n == "search"]
    assert "s2" in again
    assert "s1" not in again  # it was done before the death


async def test_a_resume_by_a_new_run_goes_on_where_it_was() -> None:
    stage = Stage(Shelf.of())
    dies_at(stage, "node.started", "node", "analyse")
    with pytest.raises(Killed):
        await stage.ask(QUESTION, review_plan=False)
    before = len(stage.sink.events)
    state = await stage.go(None)
    assert not [d for _, n, d in stage.sink.events[before:] if n in ("plan.made", "source")]
    made = report(state)
    assert made
    assert (await stage.values())["versions"][0]["run_id"] == "run-2"


async def test_a_death_during_a_modify_run_applies_the_wish_once() -> None:
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION, review_plan=False)
    dies_at(stage, "node.finished", "node", "amend")
    with pytest.raises(Killed):
        await stage.modify("r1", message="what the epoch is for")
    state = await stage.go(None, same_run=True)
    assert sorted(state["reports"]) == ["1", "2"]
    assert len([s for s in state["plan"] if "epoch" in s["title"]]) == 1
