"""Words are cut in many threads at once: branches of a run, and many runs."""

import sys
from concurrent.futures import ThreadPoolExecutor

import snowballstemmer

from graph.text.words import terms

ENDINGS = ("ations", "ally", "ness", "ement", "ical", "ing", "ies")


def test_threads_do_not_disturb_each_other() -> None:
    stems = [a + b for a in "bcdfghklmnprst" for b in ("arden", "olter", "umina", "ipress")]
    words = [stem + ending for stem in stems for ending in ENDINGS]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(terms, words))
    finally:
        sys.setswitchinterval(interval)
    alone = snowballstemmer.stemmer("english")
    assert together == [[alone.stemWord(word)] for word in words]
