"""A small web in memory: the `Web` port for tests, with pages that fail when asked to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from graph.ports import Passage, Ref, SearchResult, SourceFailed, WebHit
from tests.graph.shelf import Shelf


@dataclass
class SmallWeb:
    """Pages by url; their snapshots go into `shelf`, which serves their text afterwards.
    A search finds every page that holds one of the query's longer words."""

    shelf: Shelf
    pages: dict[str, str]
    broken: dict[str, str] = field(default_factory=dict[str, str])
    down: str | None = None
    changing: bool = False  # each visit of a page finds another text
    fetched: list[str] = field(default_factory=list[str])

    async def search(self, query: str, *, limit: int) -> SearchResult:
        if self.down:
            return SearchResult(provider="small", hits=(), failed=self.down)
        words = [w.strip("?.,").casefold() for w in query.split() if len(w) > 3]
        hits = [
            WebHit(url=url, title=text.split("\n")[0], snippet=text[:80])
            for url, text in self.pages.items()
            if any(word in text.casefold() for word in words)
        ]
        return SearchResult(provider="small", hits=hits[:limit])

    async def fetch(self, hit: WebHit) -> Sequence[Passage]:
        self.fetched.append(hit.url)
        if hit.url in self.broken:
            raise SourceFailed(self.broken[hit.url])
        visit = len(self.fetched) if self.changing else 0
        text, key = "\n\n".join([str(visit) * visit, self.pages[hit.url]]), f"{hit.url}#{visit}"
        self.shelf.snapshots[key] = text
        return [
            Passage(
                ref=Ref(key, 0, len(text)),
                text=text,
                url=hit.url,
                title=hit.title,
                kind="web",
                date="2026-01-01",
                score=0.0,
            )
        ]
