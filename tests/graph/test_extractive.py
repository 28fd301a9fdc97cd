"""The extractive reasoner: plans that name real things, sentences worth quoting."""

import re
from typing import Any

import pytest

from graph.ports import Passage, Ref
from graph.ranking import best_passages, fused
from graph.reasoner import Ask, Brief, Evidence, StepPlan
from graph.reasoners.aspects import keywords, parts, phrases, subject
from graph.reasoners.candidates import quotable
from graph.reasoners.extractive import ExtractiveReasoner
from tests.graph.shelf import Shelf

QUESTION = "How does a cancel reach a run on another worker?"
REASONER = ExtractiveReasoner()


def ask(question: str = QUESTION, language: str = "en", **more: Any) -> Ask:
    return Ask(question=question, language=language, depth="standard", **more)


async def evidence_for(question: str, *names: str) -> list[Evidence]:
    found = await Shelf.of(*names).search(question, owner="o", limit=12)
    numbers = {key: n for n, key in enumerate(dict.fromkeys(p.ref.key for p in found), 1)}
    return [Evidence(numbers[p.ref.key], p.ref, p.text, p.title, 0.5) for p in found]


@pytest.mark.parametrize("question", ["lease?", "Redis", "取消", "epochs"])
async def test_one_short_word_is_asked_back(question: str) -> None:
    language = "zh" if question == "取消" else "en"
    intent = await REASONER.intent(ask(question, language))
    assert intent.clarify
    assert len(intent.clarify.options) == 3


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "heat pumps",
        "What is a lease?",
        "Why fencing?",
        "如何取消运行？",
        "租约是什么",
        "Vergleiche Wärmepumpen",
        "Please tell me about Redis streams",
    ],
)
async def test_a_normal_question_is_not_asked_back(question: str) -> None:
    assert (await REASONER.intent(ask(question))).clarify is None


async def test_titles_are_short_and_polite_words_are_gone() -> None:
    assert subject("please tell me how leases work?") == "How leases work"
    assert subject("请问租约是什么？") == "租约是什么"
    long = subject("word " * 100)
    assert len(long) <= 120
    assert long.endswith("…")


@pytest.mark.parametrize("question", [QUESTION, "What happens to an orphan after a crash?"])
async def test_a_plan_asks_the_question_first_and_names_real_headings(question: str) -> None:
    shelf = Shelf.of()
    scope = await shelf.search(question, owner="o", limit=8)
    steps = await REASONER.plan(ask(question), scope)
    assert 2 <= len(steps) <= 5
    assert steps[0].queries[0] == question
    assert len({s.title for s in steps}) == len(steps)
    headings = "\n".join(shelf.documents.values())
    assert all(f"# {step.title}\n" in headings for step in steps[1:])
    for step in steps:
        assert step.queries
        assert "Find the passages" not in " ".join(step.queries)


async def test_without_a_first_look_the_questions_own_phrases_are_the_steps() -> None:
    steps = await REASONER.plan(
        ask("How do heat pumps compare with gas boilers in cold climates?"), []
    )
    titles = [step.title for step in steps]
    assert titles[1:] == ["Heat pumps", "Gas boilers", "Cold climates"]


async def test_a_question_of_parts_gets_a_step_for_each() -> None:
    question = "What is an epoch and how does a reader reconnect?"
    assert parts(question) == ["What is an epoch", "how does a reader reconnect?"]
    assert len(await REASONER.plan(ask(question), [])) >= 2


async def test_a_chinese_plan_is_in_chinese_with_queries_of_words() -> None:
    question = "大语言模型在医疗诊断中的应用有哪些风险和限制？"
    assert phrases(question, "zh")[0] == "大语言模型"
    assert " " in keywords(question)
    steps = await REASONER.plan(ask(question, "zh"), [])
    assert len(steps) >= 2
    assert all("的" not in query for step in steps for query in step.queries[1:])


async def test_a_revision_adds_or_drops_steps() -> None:
    plan = [StepPlan(f"Step {n}", "i", (f"q{n}",)) for n in range(1, 5)]
    added = await REASONER.plan(ask(), [], previous=plan, feedback="also the cost of hosting")
    assert [s.title for s in added[:4]] == [s.title for s in plan]
    assert "cost of hosting" in added[4].title
    dropped = await REASONER.plan(ask(), [], previous=plan, feedback="Please remove steps 2 and 4.")
    assert [s.title for s in dropped] == ["Step 1", "Step 3"]
    zh = await REASONER.plan(ask(language="zh"), [], previous=plan, feedback="去掉第3步")
    assert [s.title for s in zh] == ["Step 1", "Step 2", "Step 4"]


async def test_findings_are_verbatim_and_a_step_without_any_is_an_open_question() -> None:
    evidence = await evidence_for(QUESTION)
    step = StepPlan("Cancelling", "i", (QUESTION,))
    found = await REASONER.analyse(ask(), step, evidence)
    assert 1 <= len(found.findings) <= 6
    texts = {e.n: " ".join(e.text.split()) for e in evidence}
    for claim in found.findings:
        assert any(claim.text in texts[n] or claim.text in _all(evidence, n) for n in claim.sources)
    nothing = await REASONER.analyse(ask("Zeppelin masts?"), StepPlan("Masts", "i", ()), evidence)
    assert nothing.findings == ()
    assert nothing.open_questions == ("Masts",)


def _all(evidence: list[Evidence], n: int) -> str:
    return " ".join(" ".join(e.text.split()) for e in evidence if e.n == n)


async def test_written_sentences_are_verbatim_each_with_its_mark() -> None:
    evidence = await evidence_for(QUESTION)
    pieces = [
        p async for p in REASONER.write(ask(), Brief("Cancelling a run", "i", tuple(evidence)))
    ]
    assert pieces
    for piece in pieces:
        sentence, mark = piece.strip().rsplit(" [S", 1)
        assert sentence in _all(evidence, int(mark.rstrip("]")))
    paragraphs = "".join(pieces).split("\n\n")
    assert all(1 <= p.count("[S") <= 4 for p in paragraphs)


async def test_what_was_told_before_is_not_told_again() -> None:
    evidence = tuple(await evidence_for(QUESTION))
    first = "".join([p async for p in REASONER.write(ask(), Brief("A", "i", evidence))])
    second = "".join(
        [p async for p in REASONER.write(ask(), Brief("A", "i", evidence, before=(first,)))]
    )
    said = [part.strip() for part in re.split(r"\[S\d+\]", first) if part.strip()]
    assert len(said) > 3
    assert not [sentence for sentence in said if sentence in second]


@pytest.mark.parametrize(
    "text",
    [
        "Too short.",
        "which was cut off at its beginning by the border of a passage.",
        "The model sees only short ids such as [S3] and never an address.",
        "A sentence (with a parenthesis that is never closed in this piece.",
        "A line of text that simply stops without any mark at its end",
        "- A list marker that came along with the words of the sentence here.",
        "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0 1.1 1.2.",
        "word " * 70 + ".",
        '{"action": "approve"} starts the research with the plan as it is.',
        "$A is the address that all of the calls below are sent to.",
    ],
)
def test_what_reads_badly_is_not_quoted(text: str) -> None:
    assert not quotable(text)


def test_whole_sentences_are_quoted() -> None:
    assert quotable("A cancel is first written as a durable intent on the row of the run.")
    assert quotable("取消请求首先作为持久意图写入运行的数据行。")


def passage(key: str, text: str = "") -> Passage:
    return Passage(Ref(key, 0, len(text)), text, "u", "t", "web", None, 0.0)


def test_rankings_are_fused_by_rank() -> None:
    a, b, c = passage("a"), passage("b"), passage("c")
    order = [p.ref.key for p, _ in fused([[a, b], [b, c], [None, b]])]
    assert order == ["b", "a", "c"]
    assert fused([]) == []
    assert all(0 < score <= 1 for _, score in fused([[a, b], [b, c]]))


def test_the_best_passages_of_a_page_speak_of_the_question() -> None:
    pages = [
        passage("x", "Nothing here."),
        passage("y", "The lease is renewed."),
        passage("z", "Lease."),
    ]
    best = best_passages("how is a lease renewed", pages, 2)
    assert [p.ref.key for p in best] == ["y", "z"]
