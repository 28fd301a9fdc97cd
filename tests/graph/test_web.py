"""The fan-out over documents and web: numbering, domains, failures."""

from typing import Any

from graph.ports import Ref
from graph.values import report, values
from tests.graph.shelf import TEXTS, Shelf
from tests.graph.small_web import SmallWeb
from tests.graph.stage import Stage

QUESTION = "How do heat pumps compare with gas boilers in cold climates?"
HEAT = (TEXTS / "heat.md").read_text("utf-8")
NOISE = "Noise of outdoor units\n\nOutdoor units of heat pumps produce about 40 decibels at night."
LEASE = "Boilers\n\nA gas boiler of 1998 loses a fifth of its heat through the chimney."


def web_of(shelf: Shelf, **changes: Any) -> SmallWeb:
    pages = {
        "https://a.example/noise": NOISE,
        "https://news.b.example/boilers": LEASE,
        "https://c.example/heat": HEAT,
    }
    return SmallWeb(shelf, pages, **changes)


def stage_of(*names: str, **changes: Any) -> Stage:
    shelf = Shelf.of(*names)
    return Stage(shelf, web=web_of(shelf, **changes))


async def test_steps_look_in_documents_and_web_side_by_side() -> None:
    stage = stage_of("heat.md")
    state = await stage.ask(QUESTION, review_plan=False)
    kinds = {s["kind"] for s in state["sources"].values()}
    assert kinds == {"document", "web"}
    branches = [d for d in stage.sink.named("node.started") if d["node"] == "retrieve"]
    assert len(branches) == 2 * len(state["plan"])
    searched = {(d["provider"], d["step"]) for d in stage.sink.named("search")}
    for step in state["plan"]:
        assert {("documents", step["id"]), ("small", step["id"])} <= searched
    assert ("small", "") in searched  # the first look


async def test_numbers_are_one_per_page_and_the_same_every_time() -> None:
    seen: list[list[tuple[int, str]]] = []
    for _ in range(3):
        stage = stage_of("heat.md")
        await stage.ask(QUESTION, review_plan=False)
        sources = stage.sink.named("source")
        seen.append([(s["n"], s["url"]) for s in sources])
        assert [s["n"] for s in sources] == list(range(1, len(sources) + 1))
        assert len({s["url"] for s in sources}) == len(sources)
    assert seen[0] == seen[1] == seen[2]


async def test_a_page_that_changed_between_two_reads_keeps_its_first_text() -> None:
    stage = stage_of("quxiao.md", changing=True)
    state = await stage.ask(QUESTION, review_plan=False)
    urls = [s["url"] for s in state["sources"].values()]
    assert len(set(urls)) == len(urls)
    assert report(state)
    for section in (report(state) or {})["sections"]:
        for citation in section["citations"]:
            source = state["sources"][str(citation["n"])]
            (text,) = await stage.library.read([Ref(source["key"], 0, 10**9)])
            assert text[citation["start"] : citation["end"]] == citation["quote"]


async def test_domain_lists_decide_which_pages_are_read() -> None:
    stage = stage_of("quxiao.md")
    await stage.ask(QUESTION, review_plan=False, deny_domains=["b.example"])
    assert isinstance(stage.web, SmallWeb)
    assert "https://news.b.example/boilers" not in stage.web.fetched
    assert stage.web.fetched
    stage = stage_of("quxiao.md")
    state = await stage.ask(QUESTION, review_plan=False, allow_domains=["https://www.c.example"])
    assert {s["url"] for s in state["sources"].values()} == {"https://c.example/heat"}


async def test_an_excluded_domain_drops_its_sources_for_good() -> None:
    stage = stage_of("quxiao.md")
    first = await stage.ask(QUESTION, review_plan=False)
    urls = {s["url"]: s["n"] for s in first["sources"].values()}
    state = await stage.modify(
        "r1", exclude_domains=["b.example"], message="how much noise outdoor units make"
    )
    assert state["excluded"] == [urls["https://news.b.example/boilers"]]
    made = report(state, 2)
    assert made
    assert "https://news.b.example/boilers" not in [s["url"] for s in made["sources"]]


async def test_f37_a_failed_page_is_told_and_the_rest_is_used() -> None:
    """Field case F37: a failed branch is counted and named, never swallowed."""
    stage = stage_of("heat.md", broken={"https://a.example/noise": "it answered 403"})
    state = await stage.ask(QUESTION, review_plan=False)
    failed = stage.sink.named("source.failed")
    assert failed[0]["url"] == "https://a.example/noise"
    assert failed[0]["reason"] == "it answered 403"
    draft = values(state)["draft"]
    assert "A page could not be read (it answered 403)" in draft
    assert "https://a.example/noise" in draft


async def test_f37_failed_searches_make_a_partial_report_that_says_so() -> None:
    stage = stage_of("heat.md", down="the provider answered 500")
    state = await stage.ask(QUESTION, review_plan=False)
    made = report(state)
    assert made
    assert made["partial"]
    assert (
        "A search failed (small: the provider answered 500)" in (made["sections"][-1]["markdown"])
    )
    assert stage.sink.named("search.failed")[0]["reason"] == "the provider answered 500"


async def test_without_a_provider_the_web_is_tried_once() -> None:
    stage = Stage(Shelf.of())
    state = await stage.ask(QUESTION, review_plan=False)
    assert len(stage.sink.named("search.failed")) == 1
    made = report(state)
    assert made
    assert not made["partial"]
    assert "no search provider is set up" in made["sections"][-1]["markdown"]


async def test_documents_or_web_alone() -> None:
    stage = stage_of("heat.md")
    state = await stage.ask(QUESTION, review_plan=False, web=False)
    assert {s["kind"] for s in state["sources"].values()} == {"document"}
    assert "search provider" not in values(state)["draft"]
    stage = stage_of("heat.md")
    state = await stage.ask(QUESTION, review_plan=False, documents=False)
    assert {s["kind"] for s in state["sources"].values()} == {"web"}
