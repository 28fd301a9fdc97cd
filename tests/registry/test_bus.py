"""The bus contract, for each bus there is."""

from collections.abc import Awaitable, Callable

import pytest

from registry.bus import Bus, LocalBus
from tests.registry.bus_contract import CONTRACT


@pytest.mark.parametrize("clause", CONTRACT, ids=lambda clause: clause.__name__)
async def test_local_bus(clause: Callable[[Bus], Awaitable[None]]) -> None:
    await clause(LocalBus())
