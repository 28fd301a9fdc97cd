"""Searching, with its events: used by the first look and by the steps."""

from graph.context import Context
from graph.ports import SearchResult
from graph.state import SearchRecord
from graph.text.clean import one_line, scrub

_REASON: int = 300


async def search_web(
    ctx: Context, query: str, *, step: str, limit: int
) -> tuple[SearchResult, SearchRecord]:
    """One web search and its record; a failed one has no hits and its reason."""
    result = await ctx.web.search(query, limit=limit)
    failed = one_line(scrub(result.failed), _REASON) if result.failed else None
    record = SearchRecord(
        provider=result.provider, query=query, step=step, hits=len(result.hits), failed=failed
    )
    announce(ctx, record)
    return result, record


def announce(ctx: Context, record: SearchRecord) -> None:
    about = {"provider": record["provider"], "query": record["query"], "step": record["step"]}
    if record["failed"] is None:
        ctx.sink.emit("search", {**about, "hits": record["hits"]})
    else:
        ctx.sink.emit("search.failed", {**about, "reason": record["failed"]})
