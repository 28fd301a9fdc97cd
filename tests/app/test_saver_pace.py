"""A saver for each run keeps runs out of each other's way: a fifth of the benchmark."""

from bench.savers import BOUND, ROUND_TRIP_MS, RUNS, compare, slowed


async def test_a_saver_each_is_much_faster_than_one_for_all(database_url: str) -> None:
    with slowed(database_url, ROUND_TRIP_MS) as url:
        figures = await compare(url, runs=RUNS // 5, rounds=1)
    share = figures[-1]
    assert share.bound == BOUND
    assert share.value < BOUND * 1.5, figures
