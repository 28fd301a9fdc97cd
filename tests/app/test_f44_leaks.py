"""F44: runs cancelled in their checkpoint writes leave nothing in the pool. The full count is
in `bench/savers.py`."""

from bench.savers import CANCEL_TRIP_MS, cancels, slowed

CANCELS = 200


async def test_f44_cancels_in_checkpoint_writes_lose_no_connection(database_url: str) -> None:
    with slowed(database_url, CANCEL_TRIP_MS) as url:
        figures = await cancels(url, CANCELS)
    assert len(figures) == 6
    assert [figure for figure in figures if not figure.kept] == []
