"""The test ground itself: two workers are one service, and unrest is seen."""

import pytest

from tests.api.reading import start, state
from tests.fleet.acts import QUESTION
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import quiet
from tests.fleet.roamer import Roamer, all_end
from tests.reader import wait_for


async def test_a_run_of_one_worker_is_read_at_both(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        thread_id = await start(a, QUESTION, review_plan=False)
        roamers = [Roamer(fleet, thread_id, place=place) for place in (0, 1)]
        await all_end(roamers, seconds=60)
        assert (await state(b, thread_id))["status"] == "succeeded"
        for roamer in roamers:
            await roamer.has_all(b)
            assert "gap" not in roamer.reader.names
        assert roamers[0].reader.ids == roamers[1].reader.ids


async def test_unrest_is_seen(fleet: Fleet) -> None:
    async with fleet[0].client() as a:
        thread_id = await start(a, QUESTION, review_plan=False)
        with pytest.raises(AssertionError, match="run: "):
            await quiet(fleet, seconds=0)
        await a.post(f"/api/threads/{thread_id}/cancel", json={"wait": True})
        await wait_for(a, thread_id, "cancelled")
