"""LlmReasoner over the real chat model and the simulator."""

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from app.providers.endpoint import Endpoint
from app.providers.model import OpenAIChat
from graph.citations.gate import check
from graph.citations.numbering import Numbering
from graph.ports import ModelFailed
from graph.reasoner import Ask, Brief, Claim, StepPlan
from graph.reasoners.extractive import ExtractiveReasoner
from graph.reasoners.llm import LlmReasoner
from tests.graph.citations.evidence import ALL, CHINESE, source
from tests.simulator import Simulator

ASK = Ask("How does a cancel reach a run on another worker?", "en", "standard")
STEP = StepPlan("The way of a cancel", "Know the way.", ("cancel",))
EVIDENCE = [e for e in ALL if "`" not in e.text]  # the simulator cuts at any full stop
BRIEF = Brief("The way of a cancel", "Know the way.", tuple(EVIDENCE))

Make = Callable[[str], LlmReasoner]


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@pytest.fixture
async def reasoner(simulator: Simulator) -> AsyncIterator[Make]:
    simulator.reset()
    endpoints: list[Endpoint] = []

    def make(script: str) -> LlmReasoner:
        endpoints.append(Endpoint(model=script, base_url=simulator.url, api_key=None))
        chat = OpenAIChat(endpoints[-1], idle_seconds=5)
        return LlmReasoner(chat, script, ExtractiveReasoner())

    yield make
    for endpoint in endpoints:
        await endpoint.aclose()


async def written(reasoner: LlmReasoner, brief: Brief = BRIEF, ask: Ask = ASK) -> str:
    return "".join([piece async for piece in reasoner.write(ask, brief)])


async def test_the_typed_answers_are_the_models(reasoner: Make) -> None:
    made = reasoner("sim-0x40")
    intent = await made.intent(ASK)
    assert intent.title == "cancel reach run another worker"
    assert intent.clarify is None
    steps = await made.plan(ASK, [])
    assert len(steps) == 2
    assert all(step.queries for step in steps)
    analysis = await made.analyse(ASK, STEP, EVIDENCE)
    assert analysis.findings[0] == Claim("The lease lasts 30 seconds.", (2,))
    assert await made.reflect(ASK, steps, []) == ()


async def test_a_clarifying_question_is_asked_where_the_model_wants_one(reasoner: Make) -> None:
    intent = await reasoner("sim-0x40-clarify").intent(ASK)
    assert intent.clarify is not None
    assert intent.clarify.question
    assert intent.clarify.options


@pytest.mark.parametrize("script", ["-noschema", "-empty", "-filter"])
async def test_what_the_model_does_not_give_the_fallback_does(reasoner: Make, script: str) -> None:
    made, plain = reasoner("sim-0x40" + script), ExtractiveReasoner()
    assert await made.intent(ASK) == await plain.intent(ASK)
    assert await made.plan(ASK, []) == await plain.plan(ASK, [])
    assert await made.analyse(ASK, STEP, EVIDENCE) == await plain.analyse(ASK, STEP, EVIDENCE)
    open_questions = ["What of leases?"]
    assert await made.reflect(ASK, [STEP], open_questions) == await plain.reflect(
        ASK, [STEP], open_questions
    )


async def test_findings_without_a_source_that_was_there_are_taken_from_the_fallback(
    reasoner: Make,
) -> None:
    evidence = [source(7, "No full stop at the end of this, so that nothing can be quoted")]
    made = await reasoner("sim-0x40").analyse(ASK, STEP, evidence)
    assert made == await ExtractiveReasoner().analyse(ASK, STEP, evidence)


async def test_a_model_that_cannot_be_asked_is_never_papered_over(reasoner: Make) -> None:
    with pytest.raises(ModelFailed):
        await reasoner("sim-0x40-quota").plan(ASK, [])
    with pytest.raises(ModelFailed):
        await written(reasoner("sim-0x40-quota"))
    with pytest.raises(ModelFailed):
        await written(reasoner("sim-0x40-cut"))


async def test_a_section_streams_with_marks_that_pass_the_gate(reasoner: Make) -> None:
    made = reasoner("sim-400x60")
    pieces = [piece async for piece in made.write(ASK, BRIEF)]
    assert len(pieces) > 5
    done = check("".join(pieces), EVIDENCE, Numbering(), language="en")
    assert done.kept >= 4
    assert "The lease lasts 30 seconds [1]." in done.markdown


async def test_inventions_do_not_pass_the_gate(reasoner: Make) -> None:
    raw = await written(reasoner("sim-0x120-invent"))
    assert "S97" in raw
    assert "4711" in raw
    done = check(raw, EVIDENCE, Numbering(), language="en")
    assert done.kept > 0
    assert "97" not in done.markdown
    assert "4711" not in done.markdown


async def test_a_chinese_section_is_asked_for_in_chinese_and_passes(
    reasoner: Make, simulator: Simulator
) -> None:
    ask = Ask("取消如何到达另一个进程？", "zh", "quick")
    brief = Brief("取消", "取消的路径", (source(3, CHINESE),))
    raw = await written(reasoner("sim-0x12"), brief, ask)
    assert "in Simplified Chinese" in simulator.stats().requests[-1]["messages"][0]["content"]
    done = check(raw, brief.evidence, Numbering(), language="zh")
    assert done.kept >= 2


@pytest.mark.parametrize("script", ["sim-0x40-empty", "sim-0x0-think"])
async def test_a_section_without_text_is_written_by_the_fallback(
    reasoner: Make, script: str
) -> None:
    brief = BRIEF if script.endswith("empty") else Brief("T", "I", ())
    expected = "".join([p async for p in ExtractiveReasoner().write(ASK, brief)])
    assert await written(reasoner(script), brief) == expected


async def test_what_was_written_before_the_length_limit_stands(reasoner: Make) -> None:
    assert "The lease lasts 30 seconds [S2]." in await written(reasoner("sim-0x40-length"))


async def test_the_prompt_holds_the_evidence_under_its_ids_and_no_address(
    reasoner: Make, simulator: Simulator
) -> None:
    brief = Brief("T", "I", tuple(EVIDENCE), (Claim("It lasts.", (2,)),), ("Old text [S2].",))
    await written(reasoner("sim-0x40"), brief)
    user = simulator.stats().requests[-1]["messages"][1]["content"]
    assert "<question>\nHow does a cancel" in user
    assert "[S2] from “Notes”\nThe lease lasts 30 seconds." in user
    assert "<already_written>\nOld text.\n" in user
    assert "<findings>\n[S2] It lasts.\n" in user
    assert "key-" not in user
