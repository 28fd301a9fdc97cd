"""A thread from the question to the report, over real texts, with the extractive reasoner."""

from typing import Any

from graph.outline import has_evidence
from graph.values import report, values
from tests.graph.shelf import Shelf
from tests.graph.stage import Stage, rebuilt

QUESTION = "How does a cancel reach a run on another worker?"


async def test_a_question_becomes_a_cited_report() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    assert await stage.next() == ()
    made = report(state)
    assert made is not None
    assert (made["version"], made["language"], made["partial"]) == (1, "en", False)
    assert made["sections"][0]["title"] == "Summary"
    assert "a hint is published on the channel `task:cancel`" in made["sections"][0]["markdown"]
    assert made["sections"][-1]["title"] == "Limits of this report"
    assert has_evidence(state)


async def test_citations_are_the_words_of_the_stored_text() -> None:
    shelf = Shelf.of()
    stage = Stage(shelf)
    state = await stage.ask(QUESTION, review_plan=False)
    made = report(state)
    assert made
    cited = [c for section in made["sections"] for c in section["citations"]]
    assert len(cited) >= 8
    for citation in cited:
        text = shelf.documents[state["sources"][str(citation["n"])]["key"]]
        assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert {c["number"] for c in cited} == set(range(1, len(made["sources"]) + 1))
    assert [s["number"] for s in made["sources"]] == list(range(1, len(made["sources"]) + 1))
    numbers = [c["number"] for c in cited]
    assert sorted(set(numbers), key=numbers.index) == sorted(set(numbers))  # by first use
    assert shelf.kept["t1"] == {source["key"] for source in state["sources"].values()}


async def test_a_summary_answers_in_at_most_four_sentences() -> None:
    stage = Stage(Shelf.of())
    made = report(await stage.ask(QUESTION, review_plan=False))
    assert made
    assert 1 <= len(made["sections"][0]["sentences"]) <= 4


async def test_no_sentence_stands_twice() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    raw = [s["raw"] for s in state["sections"].values() if s["kind"] != "honesty"]
    said = [part.strip() for text in raw for part in text.split("[S")[:-1]]
    bare = [part.split("] ", 1)[-1] for part in said]
    assert len(bare) == len(set(bare))


async def test_a_chinese_question_gets_a_chinese_plan_and_report() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask("任务取消如何到达另一个工作进程上的运行？", review_plan=False)
    made = report(state)
    assert made
    assert state["language"] == made["language"] == "zh"
    titles = [step["title"] for step in state["plan"]]
    assert len(titles) >= 2
    assert all(any("\u4e00" <= c <= "\u9fff" for c in title) for title in titles)
    assert made["sections"][0]["title"] == "摘要"
    assert "`task:cancel` 频道" in made["sections"][0]["markdown"]
    assert made["sections"][-1]["title"] == "本报告的局限"


async def test_the_same_question_gives_the_same_thread() -> None:
    runs: list[tuple[Any, Any]] = []
    for _ in range(2):
        stage = Stage(Shelf.of())
        state = dict(await stage.ask(QUESTION, review_plan=False, depth="deep"))
        del state["cursor"]  # branches report their searches in the order they end
        names = [n for _, n, _ in stage.sink.events if not n.startswith(("node.", "search"))]
        runs.append((state, names))
    assert runs[0] == runs[1]


async def test_each_section_is_a_superstep_of_its_own() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    written = [d for d in stage.sink.named("node.started") if d["node"] == "write"]
    started = stage.sink.named("section.started")
    assert len(written) == len(started) == len(state["sections"])
    assert [d["index"] for d in started] == list(range(len(started)))
    assert {d["total"] for d in started} == {len(started)}
    steps = [d.get("step") for d in written]
    assert steps == [state["outline"][i]["step"] for i in range(len(started))]


async def test_events_tell_the_whole_story_in_order() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    order = list(dict.fromkeys(name for _, name, _ in stage.sink.events))
    for before, after in (
        ("plan", "search"),
        ("search", "source"),
        ("source", "finding"),
        ("finding", "section.started"),
        ("section.started", "token"),
        ("token", "section"),
        ("section", "verdict"),
        ("verdict", "report"),
    ):
        assert order.index(before) < order.index(after)
    last = stage.sink.named("report")[-1]
    made = report(state)
    assert made
    assert last["citations"] == sum(len(s["citations"]) for s in made["sections"])
    assert last["words"] > 50
    assert [s["status"] for s in stage.sink.named("plan")[-1]["steps"]] == [
        "analysed" for _ in state["plan"]
    ]


async def test_a_token_is_a_sentence_and_tokens_make_the_raw_section() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    for index, section in state["sections"].items():
        tokens = [d["text"] for d in stage.sink.named("token") if str(d["section"]) == index]
        assert "".join(tokens) == section["raw"] or section["kind"] == "honesty"
        if section["kind"] != "honesty":
            assert all(token.count("[S") == 1 for token in tokens)


async def test_every_node_that_starts_also_finishes() -> None:
    stage = Stage(Shelf.of())
    await stage.ask(QUESTION, review_plan=False)
    started = [(d["node"], d.get("step")) for d in stage.sink.named("node.started")]
    finished = [(d["node"], d.get("step")) for d in stage.sink.named("node.finished")]
    assert sorted(started, key=str) == sorted(finished, key=str)
    assert all(d["ms"] >= 0 for d in stage.sink.named("node.finished"))


async def test_values_redraw_the_page_without_the_events() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    shown = values(state)
    assert {s["index"]: s["markdown"] for s in shown["sections"]} == rebuilt(stage.sink.events)
    assert shown["plan"] == stage.sink.named("plan")[-1]["steps"]
    assert shown["sources"] == stage.sink.named("source")
    assert shown["findings"] == stage.sink.named("finding")
    assert shown["versions"] == [
        {
            "version": 1,
            "ts": "2026-03-01T12:00:00.000Z",
            "run_id": "run-1",
            "requirement_id": None,
            "sections_changed": [s["index"] for s in shown["sections"]],
            "partial": stage.sink.named("report")[0]["partial"],
        }
    ]
    for section in shown["sections"]:
        assert f"## {section['title']}\n\n{section['markdown']}" in shown["draft"]


async def test_values_and_report_of_a_thread_that_has_not_begun() -> None:
    assert values({})["sections"] == []
    assert values({})["draft"] == ""
    assert report({}) is None
    assert not has_evidence({})


async def test_only_an_asked_for_version_counts() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    assert report(state, 1) == report(state)
    assert report(state, 2) is None
