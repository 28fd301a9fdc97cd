"""Two workers for all tests here that leave them whole; each test ends with the fleet at rest."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.fleet.fleet import Fleet
from tests.fleet.quiet import complaints, quiet


@pytest.fixture(scope="session")
def standing(_template: None) -> Iterator[Fleet]:
    with Fleet(2, {"MAX_ATTEMPTS": "20"}, proxies=True) as made:
        yield made


@pytest.fixture
async def fleet(standing: Fleet) -> AsyncIterator[Fleet]:
    """Two workers, each with proxies of its own, mended before and at rest after."""
    standing.mend()
    complaints(standing)
    yield standing
    standing.mend()
    await quiet(standing)
