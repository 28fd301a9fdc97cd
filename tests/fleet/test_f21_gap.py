"""F21: a cursor older than what is kept gets a gap, at any worker; never a silent jump."""

import asyncio

import pytest

from tests.api.reading import events_in, start, stream
from tests.fleet.acts import QUESTION
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import quiet
from tests.fleet.roamer import Roamer, all_end
from tests.reader import Reader
from tests.waiting import until

BUFFER = 8 * 1024  # bytes, some fifty events
MANY = 200


@pytest.mark.usefixtures("_template")
async def test_f21_an_old_cursor_is_told() -> None:
    with Fleet(2, {"EVENT_BUFFER_BYTES": str(BUFFER)}, model="sim-300x200") as fleet:
        async with fleet[0].client() as a, fleet[1].client() as b:
            thread_id = await start(a, QUESTION, review_plan=False)
            stayed = Reader(a, thread_id)
            returning = [Roamer(fleet, thread_id, place=place) for place in (0, 1)]
            async with asyncio.TaskGroup() as group:
                group.create_task(stayed.until_end())
                await until(lambda: len(stayed.ids) > MANY)
                for client in (a, b):
                    async with stream(client, thread_id, seen=stayed.ids[9]) as response:
                        first = await anext(events_in(response))
                    assert first.name == "gap", first
                    assert first.data["after"] == stayed.ids[9]
                for roamer in returning:
                    roamer.reader.cursor = stayed.ids[9]
                group.create_task(all_end(returning, seconds=60))
            for roamer in returning:
                await roamer.has_all(b)
                assert "gap" in roamer.reader.names
        await quiet(fleet)
