"""Fixtures for all tests: a fresh, migrated database on a real Postgres."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from app.schema import prepare_schema
from registry.database import Database
from tests.services import databases


def migrated(url: str) -> None:
    """Fills the template database once per test run."""
    asyncio.run(prepare_schema(url))


@pytest.fixture(scope="session")
def _template() -> None:
    # Before any loop runs: the template is filled by a loop of its own.
    databases().drop(databases().fresh(migrated))


@pytest.fixture
def database_url(_template: None) -> Iterator[str]:
    """The URL of a fresh, migrated database, dropped afterwards."""
    url = databases().fresh(migrated)
    yield url
    databases().drop(url)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A pool of five on a fresh, migrated database."""
    made = Database(database_url, size=5)
    await made.open()
    yield made
    await made.close()
