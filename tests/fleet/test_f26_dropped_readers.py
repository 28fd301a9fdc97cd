"""F26: a connection that breaks is no wish to stop: the run goes on, another worker takes over
the reader, and it misses and repeats nothing."""

import asyncio

import httpx

from tests.api.reading import start
from tests.fleet.acts import QUESTION, runs_of
from tests.fleet.fleet import Fleet
from tests.proxy import Proxy
from tests.reader import Reader
from tests.waiting import until

CUTS = 10


async def cut(reader: Reader, proxy: Proxy, *, reset: bool) -> None:
    """One visit that is broken after a few events: by an RST, or because the page is closed."""
    before = len(reader.ids)
    visit = asyncio.get_running_loop().create_task(reader.visit())
    await until(lambda: len(reader.ids) > before + 2 or visit.done())
    if reset:
        proxy.reset()
    else:
        visit.cancel()
    await asyncio.wait({visit})
    if not visit.cancelled():
        assert isinstance(visit.exception(), httpx.TransportError | None)


async def test_f26_ten_cuts_and_the_rest_elsewhere(fleet: Fleet) -> None:
    with Proxy(fleet[0].url) as proxy:
        async with httpx.AsyncClient(base_url=proxy.url, timeout=30) as client:
            thread_id = await start(client, QUESTION, review_plan=False)
            reader = Reader(client, thread_id)
            for number in range(CUTS):
                await cut(reader, proxy, reset=number % 2 == 0)
    async with fleet[1].client() as b:
        reader.client = b
        stayed = Reader(b, thread_id)
        async with asyncio.timeout(60):
            await reader.until_end()
            await stayed.until_end()
    assert "gap" not in reader.names
    assert reader.ids == stayed.ids
    assert reader.text == stayed.text
    run = (await runs_of(fleet, thread_id))[0]
    assert (run["status"], run["attempt"]) == ("succeeded", 1)


async def test_f21_thirty_drops_within_the_window_lose_nothing(fleet: Fleet) -> None:
    """F21: reconnects whose cursor is still kept; at the worker that does not own the run."""
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread_id = await start(a, QUESTION, review_plan=False)
        stayed = Reader(a, thread_id)
        dropped = Reader(b, thread_id, chance=0.15, seed=21)
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(stayed.until_end())
            group.create_task(dropped.until_end())
        assert dropped.visits >= 30, dropped.visits
        assert "gap" not in dropped.names
        assert dropped.ids == stayed.ids
        assert dropped.text == stayed.text
