"""`python -m tests.soak`: a run that is killed in every node, then chaos at full count.

MINUTES (5), of the chaos, and SEED come from the environment.
"""

import os
import random
import sys
import time

from tests.soak.chaos import Counts, soak
from tests.soak.killed import killed


def main() -> int:
    minutes = float(os.environ.get("MINUTES", "5"))
    seed = int(os.environ.get("SEED", "") or random.randrange(1_000_000))
    met, told = killed()
    print(f"one run: {met} of {told} kills met it, its report and its reader's are the same")
    counts = Counts(seconds=60 * minutes)
    print(f"{counts.rounds} rounds over {counts.runs} runs, SEED={seed}", flush=True)
    began = time.monotonic()
    ends = soak(counts, seed, lambda line: print(line, flush=True))
    print(f"each ended once, in {time.monotonic() - began:.0f} s: {dict(ends)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
