"""Waiting for the reader: the question back, and the review of the plan."""

from typing import Any

from langgraph.types import Command

from graph.answers import validate_answer
from tests.graph.shelf import Shelf
from tests.graph.stage import Stage

QUESTION = "How does a cancel reach a run on another worker?"


async def test_a_normal_question_goes_straight_to_the_review() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION)
    assert await stage.next() == ("review",)
    _, value = await stage.interrupt()
    assert value["kind"] == "review_plan"
    assert value["payload"]["steps"] == state["plan"]
    estimate = value["payload"]["estimate"]
    assert set(estimate) == {"seconds", "tokens", "cost_usd", "runs_seen"}
    assert estimate["tokens"] == [0, 0]
    assert estimate["seconds"][0] <= estimate["seconds"][1]
    assert not stage.sink.named("search", "source")[1:]  # nothing was researched yet


async def test_one_word_is_asked_back_and_the_answer_changes_the_plan() -> None:
    stage = Stage(Shelf.of())
    await stage.ask("lease?", review_plan=False)
    _, value = await stage.interrupt()
    assert value["kind"] == "clarify"
    assert set(value["payload"]) == {"question", "options"}
    assert len(value["payload"]["options"]) == 3
    answer = validate_answer("clarify", value["payload"], {"text": "how it is renewed"})
    state = await stage.answer(answer)
    clarification = state["clarification"]
    assert clarification
    assert clarification["answer"] == "how it is renewed"
    assert any("renewed" in query for step in state["plan"] for query in step["queries"])
    assert "renewed at a third" in (await stage.values())["draft"]


async def test_no_question_back_where_the_reader_wants_none() -> None:
    stage = Stage(Shelf.of())
    await stage.ask("lease?", clarify=False)
    _, value = await stage.interrupt()
    assert value["kind"] == "review_plan"


async def test_approve_runs_the_plan_as_it_is() -> None:
    stage = Stage(Shelf.of())
    planned = (await stage.ask(QUESTION))["plan"]
    state = await stage.answer({"action": "approve"})
    assert [s["id"] for s in state["plan"]] == [s["id"] for s in planned]
    assert await stage.next() == ()


async def test_edit_keeps_known_ids_and_gives_new_ones() -> None:
    stage = Stage(Shelf.of())
    planned = (await stage.ask(QUESTION))["plan"]
    _, value = await stage.interrupt()
    wanted: list[dict[str, Any]] = [
        {"title": "Heat pumps in cold climates"},
        {"id": planned[0]["id"], "title": planned[0]["title"]},
    ]
    answer = validate_answer("review_plan", value["payload"], {"action": "edit", "steps": wanted})
    state = await stage.answer(answer)
    assert [s["id"] for s in state["plan"]] == [f"s{len(planned) + 1}", planned[0]["id"]]
    assert state["plan"][0]["queries"] == ["Heat pumps in cold climates"]
    assert state["plan"][1]["queries"] == planned[0]["queries"]
    titles = [s["title"] for s in (await stage.values())["sections"]]
    assert titles[1] == "Heat pumps in cold climates"
    assert stage.sink.named("plan")[1]["steps"] == [
        {**step, "status": "planned"} for step in state["plan"]
    ]


async def test_revise_plans_again_with_the_readers_words_and_asks_again() -> None:
    stage = Stage(Shelf.of())
    before = (await stage.ask(QUESTION))["plan"]
    first, _ = await stage.interrupt()
    state = await stage.answer({"action": "revise", "feedback": "also cover heartbeats"})
    second, value = await stage.interrupt()
    assert first != second
    assert len(state["plan"]) == len(before) + 1
    assert "heartbeats" in state["plan"][-1]["title"]
    assert value["payload"]["steps"] == state["plan"]
    assert state.get("feedback") is None
    state = await stage.answer({"action": "revise", "feedback": "drop step 2"})
    assert [s["title"] for s in state["plan"]] == [s["title"] for s in [before[0], *before[2:]]] + [
        "Also cover heartbeats"
    ]


async def test_f06_going_on_without_an_answer_answers_nothing() -> None:
    """Field case F06: a used answer must not reach the next question."""
    stage = Stage(Shelf.of())
    await stage.ask("lease?")
    await stage.answer({"text": "how it is renewed"})
    identity, value = await stage.interrupt()
    assert value["kind"] == "review_plan"
    await stage.go(None)
    assert (await stage.interrupt())[0] == identity
    assert not (await stage.state())["approved"]


async def test_f35_a_used_or_wrong_id_answers_nothing() -> None:
    """Field case F35: only the open question's own id counts."""
    stage = Stage(Shelf.of())
    await stage.ask("lease?")
    used, _ = await stage.interrupt()
    await stage.answer({"text": "how it is renewed"})
    for wrong in (used, "0" * 32):
        await stage.go(Command(resume={wrong: {"action": "approve"}}))
        assert (await stage.interrupt())[1]["kind"] == "review_plan"
        assert not (await stage.state())["approved"]


async def test_a_wish_at_the_review_keeps_the_interrupt_and_is_taken_in_after_it() -> None:
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION)
    before, _ = await stage.interrupt()
    await stage.modify("r1", message="what the epoch is for")
    after, _ = await stage.interrupt()
    assert before == after
    assert (await stage.values())["requirements"][0]["status"] == "accepted"
    state = await stage.answer({"action": "approve"})
    assert state["requirements"][0]["status"] == "applied"
    assert any("epoch" in s["title"] for s in state["plan"])
    assert "Every write carries the epoch" in (await stage.values())["draft"]


async def test_a_wish_delivered_together_with_the_answer_is_taken_in() -> None:
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION)
    identity, _ = await stage.interrupt()
    update = {"requirements": [_wish("r1", "what the epoch is for")]}
    state = await stage.go(
        Command(resume={identity: {"action": "revise", "feedback": "shorter"}}, update=update)
    )
    assert state["requirements"][0]["status"] == "applied"
    assert stage.sink.named("requirement")[0]["node"] == "plan"


def _wish(identity: str, message: str) -> dict[str, Any]:
    return {
        "id": identity,
        "message": message,
        "exclude_sources": [],
        "include_sources": [],
        "pin_sources": [],
        "exclude_domains": [],
        "status": "accepted",
    }
