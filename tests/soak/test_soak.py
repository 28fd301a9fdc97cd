"""A tenth of the chaos of `make soak`."""

import random

import pytest

from tests.soak.chaos import Counts, soak


@pytest.mark.usefixtures("_template")
def test_two_rounds_of_chaos_leave_nothing_behind() -> None:
    seed = random.randrange(1_000_000)
    print(f"SEED={seed}")
    ends = soak(Counts(rounds=2, runs=20, seconds=10), seed, print)
    assert sum(ends.values()) == 20
