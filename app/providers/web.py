"""Search of the web: no provider is part of this release, and every search says so."""

from collections.abc import Sequence
from typing import Final

from graph.ports import Passage, SearchResult, SourceFailed, WebHit

NO_PROVIDER: Final = "no web search provider is configured; set SEARCH_PROVIDER"


class NoWeb:
    """`graph.ports.Web` without a provider. `provider` is the setting's value."""

    def __init__(self, provider: str = "none") -> None:
        self._provider = provider
        self._reason = (
            NO_PROVIDER
            if provider == "none"
            else f"the search provider {provider} is not available in this release;"
            " set SEARCH_PROVIDER=none"
        )

    async def search(self, query: str, *, limit: int) -> SearchResult:
        del query, limit
        return SearchResult(provider=self._provider, hits=(), failed=self._reason)

    async def fetch(self, hit: WebHit) -> Sequence[Passage]:
        raise SourceFailed(f"{hit.url} was not read: {self._reason}")
