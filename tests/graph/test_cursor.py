"""`cursor`: a page that reads the state at any moment and follows from it misses nothing."""

from collections.abc import Mapping
from typing import Any

import pytest

from graph.values import values
from tests.graph.shelf import Shelf
from tests.graph.stage import Stage, rebuilt

QUESTION = "How does a cancel reach a run on another worker?"


def place(cursor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in cursor.split("-"))


async def checkpoints(stage: Stage) -> list[dict[str, Any]]:
    """The states of the thread as its checkpoints hold them, oldest first."""
    graph: Any = stage.graph()
    found = [item.values async for item in graph.aget_state_history(stage.thread)]
    return [dict(state) for state in reversed(found) if state.get("question")]


async def a_long_thread() -> Stage:
    stage = Stage(Shelf.of())
    stage.drain_at("section.started", "index", 1)
    await stage.ask(QUESTION, review_plan=False)
    state = await stage.modify("r1", message="what the epoch is for")
    numbers = [s["n"] for s in state["sources"].values() if s["key"] == "leases"]
    await stage.modify("r2", exclude_sources=numbers)
    await stage.modify("r3", message="how a browser reconnects")
    return stage


async def test_events_after_the_cursor_complete_the_values_of_every_checkpoint() -> None:
    stage = await a_long_thread()
    last = values(await stage.state())
    wanted = {s["index"]: s["markdown"] for s in last["sections"]}
    seen = 0
    for state in await checkpoints(stage):
        known, cursor = values(state), place(state.get("cursor") or "0-0")
        later = [event for event in stage.sink.events if place(event[0]) > cursor]
        assert rebuilt(later, known) == wanted
        plan = next((d["steps"] for _, n, d in reversed(later) if n == "plan"), known["plan"])
        assert plan == last["plan"]
        sources = {s["n"]: s for s in known["sources"]}
        sources |= {d["n"]: d for _, n, d in later if n == "source"}
        assert sources == {s["n"]: s for s in last["sources"]}
        seen += 1
    assert seen > 25


async def test_values_and_cursor_read_in_mid_fan_out_miss_no_search() -> None:
    """What finished branches wrote is visible before the superstep ends; the cursor is not
    ahead of what their siblings have still to write."""
    stage = Stage(Shelf.of())
    done = 0

    def kill(name: str, data: Mapping[str, Any]) -> None:
        nonlocal done
        if name == "node.finished" and data["node"] == "retrieve":
            done += 1
        if name == "node.started" and data["node"] == "read":
            raise InterruptedError

    stage.sink.watch = kill
    with pytest.raises(InterruptedError):
        await stage.ask(QUESTION, review_plan=False)
    assert done > 2
    state = await stage.state()
    known = values(state)
    after = [e for e in stage.sink.events if place(e[0]) > place(state["cursor"])]
    told = {(r["query"], r["step"]) for r in known["searches"]}
    told |= {(d["query"], d["step"]) for _, n, d in after if n.startswith("search")}
    assert told == {(d["query"], d["step"]) for d in stage.sink.named("search", "search.failed")}


async def test_an_open_section_lies_after_the_cursor() -> None:
    stage = Stage(Shelf.of())
    at: list[tuple[str, str]] = []

    async def look() -> None:
        for state in await checkpoints(stage):
            started = [e for e in stage.sink.events if e[1] == "section.started"]
            missing = [e for e in started if str(e[2]["index"]) not in state.get("sections", {})]
            for event in missing:
                assert place(event[0]) > place(state.get("cursor") or "0-0")
                at.append((event[0], state.get("cursor") or "0-0"))

    await stage.ask(QUESTION, review_plan=False)
    await look()
    assert at
