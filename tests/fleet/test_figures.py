"""The benchmark of two workers, at a tenth of its counts and three times its times."""

import pytest

from bench.fleet import Counts, figures

TENTH = Counts(cancels=10, deaf_cancels=3, streams=3, joins=100, killed=5)


@pytest.mark.usefixtures("_template")
def test_two_workers_keep_their_promises() -> None:
    for figure in figures(TENTH):
        if figure.bound is not None:
            slack = 1 if figure.unit == "" else 3  # counts are exact, times are not
            assert figure.value <= figure.bound * slack, figure
