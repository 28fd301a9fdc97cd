"""One run, killed in every node and drained in between, with two workers to go on with it."""

import asyncio

from tests.fleet.deaths import EVERY, survive, usual_calls
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import quiet


def killed() -> tuple[int, int]:
    """How many kills met the run, and how many there were. AssertionError where it suffered."""

    async def run(fleet: Fleet) -> int:
        met = await survive(fleet, EVERY, usual=await usual_calls(fleet))
        await asyncio.to_thread(fleet.mend)
        await quiet(fleet)
        return met

    with Fleet(2, {"MAX_ATTEMPTS": str(len(EVERY) + 1)}) as fleet:
        return asyncio.run(run(fleet)), sum(death.act == "kill" for death in EVERY)
