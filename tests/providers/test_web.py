import pytest

from app.providers import make_web
from app.settings import Settings
from graph.ports import SourceFailed, WebHit


async def test_no_provider_says_which_setting_to_make() -> None:
    found = await make_web(Settings.model_validate({})).search("anything", limit=5)
    assert (found.provider, found.hits) == ("none", ())
    assert found.failed == "no web search provider is configured; set SEARCH_PROVIDER"


async def test_a_provider_of_a_later_release_is_named() -> None:
    web = make_web(Settings.model_validate({"search_provider": "brave"}))
    found = await web.search("anything", limit=5)
    assert "brave is not available in this release" in (found.failed or "")
    with pytest.raises(SourceFailed, match=r"https://a\.test"):
        await web.fetch(WebHit("https://a.test", "A", ""))
