"""Postgres restarts under load: runs wait or go on again, none is lost, none runs twice."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.api.reading import start
from tests.fleet.acts import QUESTION, begun, runs_of, until_ready
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import quiet
from tests.fleet.roamer import Roamer, all_end
from tests.services import Databases

RUNS = 6


@pytest.fixture
def own() -> Iterator[tuple[Databases, Fleet]]:
    """A server that no other test uses, and a fleet on it."""
    server = Databases()
    try:
        with Fleet(2, postgres=server) as fleet:
            yield server, fleet
    finally:
        server.stop()


async def test_postgres_restarts_under_load(own: tuple[Databases, Fleet]) -> None:
    server, fleet = own
    async with fleet[0].client() as a, fleet[1].client() as b:
        threads = await asyncio.gather(
            *(begun(client) for client in (a, b) for _ in range(RUNS // 2))
        )
        readers = [Roamer(fleet, t, place=n % 2) for n, t in enumerate(threads)]
        async with asyncio.TaskGroup() as group:
            group.create_task(all_end(readers, seconds=60))
            await asyncio.to_thread(server.restart)
        for reader in readers:
            await reader.has_all(a)
        for thread_id in threads:
            (run,) = await runs_of(fleet, thread_id)
            assert run["status"] == "succeeded", run
        for member in fleet.members:
            await until_ready(member, yes=True)
        again = await start(b, QUESTION, review_plan=False)
        await all_end([Roamer(fleet, again, place=1)], seconds=30)
    await quiet(fleet)
