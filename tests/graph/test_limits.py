"""What is missing is said: no evidence, failed steps, an index that is not done, the gate."""

import pytest
from langgraph.types import Command

from graph.answers import validate_answer
from graph.errors import StateTooNew, WorkflowFailed
from graph.limits import DEPTHS
from graph.requirements import finish_update
from graph.state import SCHEMA_VERSION
from graph.values import report, values
from tests.graph.shelf import Shelf
from tests.graph.stage import Stage
from tests.graph.thinkers import Curious, Failing, Inventing, Messy

QUESTION = "How does a cancel reach a run on another worker?"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which pizza ovens bake at home best?", "Nothing matched the question"),
        ("披萨烤箱哪种最好用？", "没有找到与问题相符的内容"),
    ],
)
async def test_no_evidence_gives_no_invented_report(question: str, said: str) -> None:
    stage = Stage(Shelf.of("heat.md", "quxiao.md"))
    state = await stage.ask(question, review_plan=False)
    made = report(state)
    assert made
    assert made["partial"]
    (only,) = made["sections"]
    assert said in only["markdown"]
    assert only["citations"] == []
    assert made["sources"] == []
    assert {s["status"] for s in state["plan"]} == {"gap"}


async def test_a_wish_after_an_empty_report_makes_a_full_one() -> None:
    stage = Stage(Shelf.of("heat.md"))
    await stage.ask("Which pizza ovens bake at home best?", review_plan=False)
    state = await stage.modify("r1", message="how noisy outdoor units of heat pumps are")
    made = report(state, 2)
    assert made
    assert [s["index"] for s in made["sections"]] == list(range(len(made["sections"])))
    assert "decibels" in made["sections"][0]["markdown"]


async def test_documents_not_yet_indexed_are_counted() -> None:
    stage = Stage(Shelf.of())
    assert isinstance(stage.library, Shelf)
    stage.library.pending, stage.library.failed = 994, 2
    state = await stage.ask(QUESTION, review_plan=False)
    made = report(state)
    assert made
    assert made["partial"]
    limits = made["sections"][-1]["markdown"]
    assert "994 of 1,002 documents were not yet indexed" in limits
    assert "2 of 1,002 documents could not be read" in limits


async def test_a_step_without_evidence_is_named() -> None:
    stage = Stage(Shelf.of("heat.md"))
    await stage.ask("How do heat pumps work in cold climates?")
    steps = [{"title": "Heat pumps in cold climates"}, {"title": "Zeppelin mooring masts"}]
    _, value = await stage.interrupt()
    answer = validate_answer("review_plan", value["payload"], {"action": "edit", "steps": steps})
    state = await stage.answer(answer)
    made = report(state)
    assert made
    assert made["partial"]
    assert "No evidence was found for: Zeppelin mooring masts." in made["sections"][-1]["markdown"]
    assert "Zeppelin mooring masts" not in [s["title"] for s in made["sections"]]
    assert [s["status"] for s in state["plan"]] == ["analysed", "gap"]


async def test_f37_one_failed_step_leaves_a_named_gap() -> None:
    """Field case F37: one branch of several fails."""
    stage = Stage(Shelf.of(), reasoner=Failing(title="Leases"))
    state = await stage.ask(QUESTION, review_plan=False)
    made = report(state)
    assert made
    assert made["partial"]
    assert "The analysis of “Leases” failed: HTTP 500" in made["sections"][-1]["markdown"]
    assert "Leases" not in [s["title"] for s in made["sections"]]


async def test_f37_all_steps_failed_is_a_failed_run_that_can_be_resumed() -> None:
    """Field case F37: every branch fails; no report is invented, a resume tries again."""
    stage = Stage(Shelf.of(), reasoner=Failing(title="", times=4))
    with pytest.raises(WorkflowFailed) as failure:
        await stage.ask(QUESTION, review_plan=False)
    assert failure.value.problem["type"] == "/problems/model-failed"
    assert "HTTP 500" in failure.value.problem["detail"]
    assert report(await stage.state()) is None
    state = await stage.go(None)
    assert report(state) is not None


async def test_a_report_that_no_source_backs_is_refused_and_a_resume_writes_it_anew() -> None:
    stage = Stage(Shelf.of(), reasoner=Inventing(sections=5))
    with pytest.raises(WorkflowFailed) as failure:
        await stage.ask(QUESTION, review_plan=False)
    assert failure.value.problem["type"] == "/problems/unsupported-report"
    assert report(await stage.state()) is None
    with pytest.raises(WorkflowFailed):  # recovered, not resumed: the same run, the same end
        await stage.go(None, same_run=True)
    state = await stage.go(None)
    made = report(state)
    assert made
    assert "penguins" not in values(state)["draft"]
    assert made["sections"][0]["citations"]


async def test_a_wish_on_a_refused_report_writes_it_anew() -> None:
    stage = Stage(Shelf.of(), reasoner=Inventing(sections=5))
    with pytest.raises(WorkflowFailed):
        await stage.ask(QUESTION, review_plan=False)
    state = await stage.modify("r1", message="what the epoch is for")
    assert sorted(state["reports"]) == ["1"]
    assert "penguins" not in values(state)["draft"]
    assert "Every write carries the epoch" in values(state)["draft"]


async def test_what_the_gate_removes_is_counted_in_the_report() -> None:
    stage = Stage(Shelf.of(), reasoner=Inventing(sections=1))
    state = await stage.ask(QUESTION, review_plan=False)
    made = report(state)
    assert made
    assert made["partial"]
    assert "4 sentences were removed" in made["sections"][-1]["markdown"]
    assert made["sections"][0]["markdown"] == "Nothing of this section could be backed by a source."
    verdict = stage.sink.named("verdict")[0]
    assert (verdict["section"], verdict["kept"], verdict["removed"]) == (0, 0, 4)


async def test_f05_f48_what_may_not_travel_never_leaves_the_writer() -> None:
    """Field cases F05 and F48: NUL and half a pair in a model's text."""
    stage = Stage(Shelf.of(), reasoner=Messy())
    state = await stage.ask("How does a \x00 cancel \ud800 reach a run on another worker?")
    state = await stage.answer({"action": "approve"})
    told = repr(stage.sink.events) + repr(state)
    assert "\\x00" not in told
    assert "\\ud800" not in told
    assert not [d for d in stage.sink.named("token") if not d["text"]]
    assert report(state)


@pytest.mark.parametrize("depth", ["quick", "standard", "deep"])
async def test_reflection_is_bounded(depth: str) -> None:
    thinker = Curious()
    stage = Stage(Shelf.of(), reasoner=thinker)
    state = await stage.ask(QUESTION, review_plan=False, depth=depth)
    assert len(thinker.asked) == DEPTHS[depth].rounds
    assert len(state["plan"]) <= 12
    assert await stage.next() == ()
    ids = [step["id"] for step in state["plan"]]
    assert len(set(ids)) == len(ids)
    if depth != "quick":
        assert any(step["title"].startswith("Heartbeats") for step in state["plan"])
        assert "Questions left open" in values(state)["draft"]


async def test_an_early_finish_writes_from_what_there_is() -> None:
    stage = Stage(Shelf.of(), reasoner=Curious())
    stage.drain_at("node.finished", "node", "analyse")
    await stage.ask(QUESTION, review_plan=False)
    state = await stage.go(Command(update=finish_update()))
    made = report(state)
    assert made
    assert made["partial"]
    assert made["sections"][0]["citations"]
    assert (
        "Not researched, because the report was asked for early: Heartbeats"
        in (made["sections"][-1]["markdown"])
    )
    assert not [d for d in stage.sink.named("search") if d["step"] == "s5"]


async def test_a_checkpoint_of_a_newer_release_is_refused() -> None:
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION)
    with pytest.raises(StateTooNew) as error:
        await stage.go(Command(update={"schema_version": SCHEMA_VERSION + 1}))
    assert "update this worker" in str(error.value)
