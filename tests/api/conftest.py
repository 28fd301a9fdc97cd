"""Two servers for all tests here: one without keys, one with three."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from tests.api.reading import waiting
from tests.api.running import Running
from tests.conftest import migrated
from tests.services import databases

GARDEN = """# Keeping bees in a city garden

## Where to put the hive

A hive in a city garden should stand where the morning sun reaches it. The entrance should face
south-east and stay clear of paths. Bees fly out in a steep line when a fence of two metres
stands before the hive, so neighbours are not disturbed.

## Feeding in winter

A colony needs about 15 kilograms of stored honey to live through a winter. Beekeepers weigh the
hive in October and feed sugar syrup where the stores are too small. Syrup fed after the first
frost is not stored any more, because the bees cannot dry it.

## Swarming

Colonies swarm in May and June when the hive becomes too small. A second box given in April lowers
the wish to swarm. Cutting out queen cells every seven days stops a swarm, but only for a while.
"""


@pytest.fixture(scope="session")
def server(_template: None) -> Iterator[Running]:
    """Without keys: everyone is the local user."""
    url = databases().fresh(migrated)
    settings = {"HEARTBEAT_SECONDS": "0.5", "SEND_TIMEOUT_SECONDS": "2"}
    documents = {"garden.md": GARDEN, "broken.pdf": "This is not a PDF."}
    with Running(url, settings, documents=documents) as made:
        made.indexed()
        yield made
    databases().drop(url)


@pytest.fixture(scope="session")
def keyed(_template: None) -> Iterator[Running]:
    """With keys for ann, bob, and root, who is an admin."""
    url = databases().fresh(migrated)
    keys = "ann:ann-secret:default,bob:bob-secret,root:root-secret:admin"
    with Running(url, {"API_KEYS": keys}, documents={"garden.md": GARDEN}) as made:
        made.indexed("ann-secret")
        yield made
    databases().drop(url)


@pytest.fixture
async def client(server: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client() as made:
        yield made


@pytest.fixture(scope="session")
async def standing(server: Running) -> str:
    """A thread that waits for its plan to be reviewed, for tests that leave it so."""
    async with server.client() as made:
        return await waiting(made, "How much honey does a colony of bees need for the winter?")
