"""read: what was found becomes numbered sources and evidence.

Numbers are given in the order of plan, channel and rank, after all branches are in, so that
they depend on what was found and not on which branch was faster; once given they stay.
"""

from graph.context import Context
from graph.limits import limits
from graph.nodes.node import Update
from graph.requirements import host_matches
from graph.state import Hit, Source, Span, State, Step
from graph.text.clean import one_line, scrub
from graph.values import printed_source

_CHANNELS: tuple[str, ...] = ("documents", "web")


async def read(state: State, ctx: Context) -> Update:
    found = state.get("found", {})
    numbers = _Numbers(state)
    evidence: dict[str, list[Span]] = {}
    steps: list[Step] = []
    for step in state["plan"]:
        lists = [found[key] for c in _CHANNELS if (key := f"{step['id']}/{c}") in found]
        if not lists:
            steps.append(step)
            continue
        hits = _without_overlaps([hit for hit in _interleaved(lists) if numbers.fits(hit)])
        spans = [
            Span(n=numbers.of(hit), start=hit["start"], end=hit["end"], score=hit["score"])
            for hit in hits[: limits(state["request"]["depth"]).passages]
        ]
        evidence[step["id"]] = spans
        usable = any(span["n"] not in numbers.excluded for span in spans)
        steps.append({**step, "status": "read" if usable else "gap"})
    if numbers.new:
        await ctx.library.keep(state["thread_id"], [source["key"] for source in numbers.new])
    for source in numbers.new:
        ctx.sink.emit("source", printed_source(source))
    ctx.sink.emit("plan", {"steps": steps})
    return {
        "found": dict.fromkeys(found),
        "sources": {str(source["n"]): source for source in numbers.new},
        "evidence": evidence,
        "excluded": sorted(numbers.excluded),
        "plan": steps,
    }


class _Numbers:
    """Source numbers of the thread: one per snapshot, and one per address."""

    def __init__(self, state: State) -> None:
        known = list(state.get("sources", {}).values())
        self._by_key = {source["key"]: source["n"] for source in known}
        self._key_of = {source["url"]: source["key"] for source in known}
        self._denied: list[str] = state.get("deny_domains", [])
        self.excluded = set(state.get("excluded", ()))
        self.new: list[Source] = []

    def fits(self, hit: Hit) -> bool:
        """A page read again that changed meanwhile does not: its offsets are of another
        text than the one the thread keeps under this address."""
        return self._key_of.setdefault(hit["url"], hit["key"]) == hit["key"]

    def of(self, hit: Hit) -> int:
        n = self._by_key.get(hit["key"])
        if n is None:
            n = self._by_key[hit["key"]] = len(self._by_key) + 1
            self.new.append(_source(n, hit))
            if host_matches(hit["url"], self._denied):
                self.excluded.add(n)
        return n


def _source(n: int, hit: Hit) -> Source:
    return Source(
        n=n,
        key=hit["key"],
        url=scrub(hit["url"]),
        title=one_line(scrub(hit["title"]), 300) or scrub(hit["url"]),
        date=hit["date"],
        kind=hit["kind"],
    )


def _interleaved(lists: list[list[Hit]]) -> list[Hit]:
    """The best of each channel in turn."""
    longest = max(len(hits) for hits in lists)
    return [hits[rank] for rank in range(longest) for hits in lists if rank < len(hits)]


def _without_overlaps(hits: list[Hit]) -> list[Hit]:
    """Pieces of one snapshot that overlap become one piece, in the place of the first."""
    out: list[Hit] = []
    for hit in hits:
        for place, other in enumerate(out):
            if (
                other["key"] == hit["key"]
                and other["start"] < hit["end"] > hit["start"] < other["end"]
            ):
                start, end = min(other["start"], hit["start"]), max(other["end"], hit["end"])
                out[place] = {**other, "start": start, "end": end}
                break
        else:
            out.append(hit)
    return out
