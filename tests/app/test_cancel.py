"""A cancel is over soon, wherever it comes: a tenth of the benchmark, at three times its bound."""

from bench.cancel import BOUND_MS, RUNS, cancels


async def test_a_cancel_ends_everything_it_has_to_end() -> None:
    figures = {f.name: f for f in await cancels({kind: n // 10 for kind, n in RUNS.items()})}
    assert figures["all, p99"].value <= 3 * BOUND_MS, figures
    for name in ("pool places not given back", "runs left", "model calls left"):
        assert figures[name].value == 0, name
