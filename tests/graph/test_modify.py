"""Wishes at any time: while it runs, in the last node, on a finished thread."""

from typing import Any, cast

import pytest

from graph.evidence import spans_of
from graph.requirements import requirement_update, unapplied
from graph.state import State
from graph.values import report, values
from tests.graph.shelf import Shelf
from tests.graph.stage import Stage, rebuilt

QUESTION = "How does a cancel reach a run on another worker?"
EPOCH = "Every write carries the epoch"
STARTS = ["intent", "scope", "plan", "retrieve", "read", "analyse", "reflect", "write", "verify"]


def same_but_numbers(section: dict[str, Any]) -> str:
    """The Markdown with source numbers that stay, in place of printed ones that may move."""
    text = section["markdown"]
    for citation in section["citations"]:
        text = text.replace(f"[{citation['number']}]", f"[S{citation['n']}]")
    return text


def made(state: dict[str, Any], version: int | None = None) -> dict[str, Any]:
    found = report(state, version)
    assert found
    return found


def by_title(state: dict[str, Any], version: int) -> dict[str, dict[str, Any]]:
    return {section["title"]: section for section in made(state, version)["sections"]}


@pytest.mark.parametrize("node", STARTS)
async def test_a_wish_while_it_runs_is_applied_at_the_next_boundary(node: str) -> None:
    stage = Stage(Shelf.of())
    stage.drain_at("node.started", "node", node)
    await stage.ask(QUESTION, review_plan=False)
    assert await stage.next() != ()
    state = await stage.modify("r1", message="what the epoch is for")
    assert await stage.next() == ()
    assert unapplied(state) == []
    applied = stage.sink.named("requirement")
    assert [d["status"] for d in applied] == ["applied"]
    assert applied[0]["version"] == 1
    assert sorted(state["reports"]) == ["1"]
    (title,) = [step["title"] for step in state["plan"] if "epoch" in step["title"]]
    assert EPOCH in by_title(state, 1)[title]["markdown"]
    shown = values(state)
    assert rebuilt(stage.sink.events) == {s["index"]: s["markdown"] for s in shown["sections"]}


async def test_a_wish_before_the_plan_is_simply_planned_in() -> None:
    stage = Stage(Shelf.of())
    stage.drain_at("node.started", "node", "intent")
    await stage.ask(QUESTION)
    state = await stage.modify("r1", message="what the epoch is for", exclude_domains=["a.example"])
    assert await stage.next() == ("review",)
    assert any("epoch" in step["title"] for step in state["plan"])
    assert state["deny_domains"] == ["a.example"]
    assert stage.sink.named("requirement")[0]["node"] == "plan"


async def test_a_wish_while_sections_are_written_keeps_those_that_stand() -> None:
    stage = Stage(Shelf.of())
    stage.drain_at("section.started", "index", 2)
    before = await stage.ask(QUESTION, review_plan=False)
    assert sorted(before["sections"]) == ["0", "1", "2"]
    done = len(stage.sink.events)
    state = await stage.modify("r1", message="what the epoch is for")
    again = [d["index"] for _, n, d in stage.sink.events[done:] if n == "section.started"]
    assert not {0, 1, 2} & set(again)
    for key in ("0", "1", "2"):
        assert state["sections"][key]["raw"] == before["sections"][key]["raw"]


async def test_a_wish_before_the_last_node_is_in_the_first_version() -> None:
    stage = Stage(Shelf.of())
    stage.drain_at("node.finished", "node", "verify")
    await stage.ask(QUESTION, review_plan=False)
    assert await stage.next() == ("finish",)
    state = await stage.modify("r1", message="what the epoch is for")
    assert sorted(state["reports"]) == ["1"]
    assert any(EPOCH in s["markdown"] for s in by_title(state, 1).values())


async def test_a_wish_that_finds_nothing_is_named_in_the_version_it_came_into() -> None:
    stage = Stage(Shelf.of())
    stage.drain_at("node.finished", "node", "verify")
    await stage.ask(QUESTION, review_plan=False)
    state = await stage.modify("r1", message="zeppelin mooring masts")
    assert sorted(state["reports"]) == ["1"]
    assert made(state)["partial"]
    assert (
        "No evidence was found for: Zeppelin mooring masts."
        in (made(state)["sections"][-1]["markdown"])
    )
    state = await stage.modify("r2", message="how deep the mariana trench is")
    assert "mariana trench" in made(state, 2)["sections"][-1]["markdown"]
    assert state["reports"]["2"]["sections_changed"] == [len(made(state, 2)["sections"]) - 1]


async def test_a_wish_in_the_last_node_is_too_late_and_a_modify_run_takes_it() -> None:
    stage = Stage(Shelf.of())
    stage.drain_at("node.started", "node", "finish")
    state = await stage.ask(QUESTION, review_plan=False)
    assert await stage.next() == ()  # a last node ends normally
    assert sorted(state["reports"]) == ["1"]
    assert stage.sink.named("requirement") == []
    state = await stage.modify("r1", message="what the epoch is for")
    assert sorted(state["reports"]) == ["1", "2"]
    assert state["reports"]["2"]["requirement_id"] == "r1"


async def test_a_message_on_a_finished_thread_adds_a_section_and_keeps_the_others() -> None:
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION, review_plan=False)
    searched = len(stage.sink.named("search"))
    done = len(stage.sink.events)
    state = await stage.modify("r1", message="what the epoch is for")
    old, new = by_title(state, 1), by_title(state, 2)
    (added,) = set(new) - set(old)
    assert EPOCH in new[added]["markdown"]
    for title in set(old) - {"Limits of this report"}:
        assert same_but_numbers(new[title]) == same_but_numbers(old[title])
    assert {s["step"] for s in stage.sink.named("search")[searched:]} == {state["plan"][-1]["id"]}
    assert state["reports"]["2"]["sections_changed"] == [new[added]["index"]]
    written = [d for _, n, d in stage.sink.events[done:] if n == "section.started"]
    assert [d["title"] for d in written] == [added, "Limits of this report"]
    assert {d["version"] for d in written} == {2}
    wish = stage.sink.named("requirement")[0]
    assert wish == {
        "id": "r1",
        "status": "applied",
        "node": "amend",
        "version": 2,
        "sections": [new[added]["index"]],
    }
    assert report(state, 1) != report(state, 2)
    shown = values(state)
    assert [v["version"] for v in shown["versions"]] == [1, 2]
    assert rebuilt(stage.sink.events) == {s["index"]: s["markdown"] for s in shown["sections"]}


async def test_an_excluded_source_leaves_only_the_sections_that_leaned_on_it() -> None:
    stage = Stage(Shelf.of())
    first = await stage.ask(QUESTION, review_plan=False)
    (gone,) = [s["n"] for s in first["sources"].values() if s["key"] == "leases"]
    leaned = {
        t for t, s in by_title(first, 1).items() if any(c["n"] == gone for c in s["citations"])
    }
    assert leaned
    state = await stage.modify("r1", exclude_sources=[gone])
    old, new = by_title(first, 1), by_title(state, 2)
    assert not [c for s in new.values() for c in s["citations"] if c["n"] == gone]
    assert gone not in [source["n"] for source in made(state, 2)["sources"]]
    for title in set(old) - leaned - {"Limits of this report"}:
        assert same_but_numbers(new[title]) == same_but_numbers(old[title])
    assert (
        "Left out at the reader's wish: Leases and recovery"
        in (new["Limits of this report"]["markdown"])
    )
    assert values(state)["excluded"] == [gone]
    changed = {s["title"] for s in new.values() if s["index"] in _changed(state, 2)}
    assert changed <= leaned | {"Limits of this report"}


async def test_an_exclusion_can_be_taken_back() -> None:
    stage = Stage(Shelf.of())
    first = await stage.ask(QUESTION, review_plan=False)
    (gone,) = [s["n"] for s in first["sources"].values() if s["key"] == "leases"]
    await stage.modify("r1", exclude_sources=[gone])
    state = await stage.modify("r2", include_sources=[gone])
    assert values(state)["excluded"] == []
    assert gone in [s["n"] for s in made(state)["sources"]]
    assert [v["requirement_id"] for v in values(state)["versions"]] == [None, "r1", "r2"]


async def test_excluding_while_it_is_written_discards_what_leaned_on_it() -> None:
    stage = Stage(Shelf.of())
    stage.drain_at("node.finished", "node", "verify")
    first = await stage.ask(QUESTION, review_plan=False)
    (gone,) = [s["n"] for s in first["sources"].values() if s["key"] == "leases"]
    state = await stage.modify("r1", exclude_sources=[gone])
    assert sorted(state["reports"]) == ["1"]
    sections = by_title(state, 1)
    assert not [c for s in sections.values() for c in s["citations"] if c["n"] == gone]
    shown = values(state)
    assert rebuilt(stage.sink.events) == {s["index"]: s["markdown"] for s in shown["sections"]}


async def test_excluding_everything_leaves_no_invented_report() -> None:
    stage = Stage(Shelf.of())
    first = await stage.ask(QUESTION, review_plan=False)
    state = await stage.modify("r1", exclude_sources=[s["n"] for s in first["sources"].values()])
    bare = made(state, 2)
    assert bare["partial"]
    assert [s["title"] for s in bare["sections"]] == ["Limits of this report"]
    assert bare["sources"] == []
    back = await stage.modify("r2", include_sources=[s["n"] for s in first["sources"].values()])
    titles = [s["title"] for s in made(back, 3)["sections"]]
    assert titles == [s["title"] for s in made(back, 1)["sections"]]


async def test_a_pinned_source_is_preferred() -> None:
    stage = Stage(Shelf.of())
    first = await stage.ask("What does a worker do with a lost lease?", review_plan=False)
    (pin,) = [s["n"] for s in first["sources"].values() if s["key"] == "cancelling"]
    state = await stage.modify("r1", pin_sources=[pin])
    assert values(state)["pinned"] == [pin]
    assert pin not in [c["n"] for c in by_title(first, 1)["Summary"]["citations"]]
    assert pin in [c["n"] for c in by_title(state, 2)["Summary"]["citations"]]
    evidence = spans_of(cast("State", state), [state["plan"][0]["id"]])
    assert evidence[0]["n"] == pin


async def test_an_excluded_domain_drops_its_sources() -> None:
    update = requirement_update([{"id": "r1", "exclude_domains": ["https://www.News.example/x"]}])
    assert update["requirements"][0]["exclude_domains"] == ["https://www.News.example/x"]
    assert unapplied(update) == ["r1"]


async def test_the_same_wish_delivered_twice_is_applied_once() -> None:
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION, review_plan=False)
    await stage.modify("r1", message="what the epoch is for")
    state = await stage.modify("r1", message="what the epoch is for")
    assert len([s for s in state["plan"] if "epoch" in s["title"]]) == 1
    assert len(stage.sink.named("requirement")) == 1
    assert sorted(state["reports"]) == ["1", "2"]  # and no version for nothing


async def test_several_wishes_at_once_make_one_version() -> None:
    stage = Stage(Shelf.of())
    first = await stage.ask(QUESTION, review_plan=False)
    (gone,) = [s["n"] for s in first["sources"].values() if s["key"] == "leases"]
    state = await stage.modify_all(
        {"id": "r1", "exclude_sources": [gone]}, {"id": "r2", "message": "how a browser reconnects"}
    )
    assert sorted(state["reports"]) == ["1", "2"]
    assert [d["id"] for d in stage.sink.named("requirement")] == ["r1", "r2"]
    assert any("last event id" in s["markdown"] for s in by_title(state, 2).values())


def _changed(state: dict[str, Any], version: int) -> list[int]:
    return state["reports"][str(version)]["sections_changed"]
