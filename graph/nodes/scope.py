"""scope: a cheap look before planning, so that the plan names what there is to find."""

from graph.context import Context
from graph.evidence import hit_of
from graph.nodes.node import Update
from graph.nodes.searching import search_web
from graph.ports import Passage, Ref
from graph.state import Hit, State
from graph.text.clean import one_line, scrub

_PASSAGES: int = 8
_PAGES: int = 5


async def scope(state: State, ctx: Context) -> Update:
    """The first page of hits of the documents and of the web; no page is read."""
    request = state["request"]
    hits: list[Hit] = []
    if request["documents"]:
        found = await ctx.library.search(state["question"], owner=state["owner"], limit=_PASSAGES)
        hits += [hit_of(passage, passage.score) for passage in found]
    if not request["web"]:
        return {"scope": hits}
    result, record = await search_web(ctx, state["question"], step="", limit=_PAGES)
    hits += [
        hit_of(
            Passage(
                ref=Ref("", 0, 0),
                text="",
                url=scrub(hit.url),
                title=one_line(scrub(hit.title), 200),
                kind="web",
                date=hit.date,
                score=0.0,
            ),
            0.0,
        )
        for hit in result.hits
    ]
    return {"scope": hits, "searches": [record]}
