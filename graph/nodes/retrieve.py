"""retrieve: one step in one channel. Branches run side by side and share nothing."""

import asyncio
from collections.abc import Sequence

from graph.context import Context
from graph.evidence import hit_of
from graph.limits import Limits, limits
from graph.nodes.node import Update
from graph.nodes.searching import announce, search_web
from graph.ports import Passage, SourceFailed, WebHit
from graph.ranking import best_passages, fused
from graph.requirements import allowed
from graph.state import Branch, PageFailure, SearchRecord
from graph.text.clean import one_line, scrub

_HITS: int = 10  # of one web search
_PER_PAGE: int = 3  # passages that one page may give to a step
_PAGE_SECONDS: float = 45.0  # the reader of pages has its own, shorter limits


async def retrieve(branch: Branch, ctx: Context) -> Update:
    """`found` under "step/channel": a list, empty where nothing matched."""
    step, bounds = branch["step"], limits(branch["request"]["depth"])
    key = f"{step['id']}/{branch['channel']}"
    if branch["channel"] == "documents":
        return await _documents(branch, ctx, key, bounds)
    return await _web(branch, ctx, key, bounds)


async def _documents(branch: Branch, ctx: Context, key: str, bounds: Limits) -> Update:
    step = branch["step"]
    coverage = await ctx.library.coverage(owner=branch["owner"])
    rankings: list[Sequence[Passage]] = []
    records: list[SearchRecord] = []
    for query in step["queries"]:
        hits = await ctx.library.search(query, owner=branch["owner"], limit=bounds.passages)
        rankings.append(hits)
        record = SearchRecord(
            provider="documents", query=query, step=step["id"], hits=len(hits), failed=None
        )
        announce(ctx, record)
        records.append(record)
    best = fused(rankings)[: bounds.passages]
    return {
        "found": {key: [hit_of(passage, score) for passage, score in best]},
        "searches": records,
        "coverage": {
            step["id"]: {
                "indexed": coverage.indexed,
                "pending": coverage.pending,
                "failed": coverage.failed,
            }
        },
    }


async def _web(branch: Branch, ctx: Context, key: str, bounds: Limits) -> Update:
    step, request = branch["step"], branch["request"]
    records: list[SearchRecord] = []
    pages: dict[str, WebHit] = {}
    for query in step["queries"]:
        result, record = await search_web(ctx, query, step=step["id"], limit=_HITS)
        records.append(record)
        for hit in result.hits:
            if allowed(hit.url, request["allow_domains"], branch["deny_domains"]):
                pages.setdefault(hit.url, hit)
        if record["provider"] == "none":
            break
    chosen = list(pages.values())[: bounds.pages]
    read: list[list[Passage]] = [[] for _ in chosen]
    failures: list[PageFailure | None] = [None for _ in chosen]
    question = " ".join([step["title"], *step["queries"]])

    async def fetch(place: int, hit: WebHit) -> None:
        try:
            async with asyncio.timeout(_PAGE_SECONDS):
                passages = await ctx.web.fetch(hit)
        except (SourceFailed, TimeoutError) as error:
            reason = error.reason if isinstance(error, SourceFailed) else "it took too long"
            failures[place] = _failure(ctx, step["id"], hit, reason)
        else:
            read[place] = await asyncio.to_thread(best_passages, question, passages, _PER_PAGE)

    async with asyncio.TaskGroup() as group:
        for place, hit in enumerate(chosen):
            group.create_task(fetch(place, hit))
    best = fused(list(zip(*_padded(read), strict=True)))[: bounds.passages]
    return {
        "found": {key: [hit_of(passage, score) for passage, score in best]},
        "searches": records,
        "page_failures": [failure for failure in failures if failure],
    }


def _padded(read: list[list[Passage]]) -> list[list[Passage | None]]:
    """All lists as long as the longest, so that the best of each page rank together."""
    longest = max((len(passages) for passages in read), default=0)
    return [[*passages, *[None] * (longest - len(passages))] for passages in read]


def _failure(ctx: Context, step: str, hit: WebHit, reason: str) -> PageFailure:
    made = PageFailure(step=step, url=scrub(hit.url), reason=one_line(scrub(reason), 300))
    ctx.sink.emit(
        "source.failed",
        {"url": made["url"], "title": one_line(scrub(hit.title), 200), "reason": made["reason"]},
    )
    return made
