"""F39: a worker frozen for longer than its lease wakes up and changes nothing any more."""

import asyncio

from tests.api.reading import state
from tests.fleet.acts import begun, events_of, runs_of
from tests.fleet.fleet import Fleet
from tests.fleet.quiet import gauges_of, query
from tests.fleet.roamer import Roamer, all_end


async def told_under(fleet: Fleet, thread_id: str, epoch: int) -> list[tuple[int, int, str]]:
    return [event for event in await events_of(fleet, thread_id) if event[0] == epoch]


async def test_f39_a_frozen_owner_wakes_to_find_itself_replaced(fleet: Fleet) -> None:
    async with fleet[0].client() as a:
        thread_id = await begun(a)
    first = (await runs_of(fleet, thread_id))[0]
    fleet[0].freeze()
    async with fleet[1].client() as b:
        reader = Roamer(fleet, thread_id, place=1)
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(all_end([reader], seconds=60))
            while (await runs_of(fleet, thread_id))[0]["worker_id"] in {first["worker_id"], None}:
                await asyncio.sleep(0.05)
            taken = (await runs_of(fleet, thread_id))[0]
            owned = await told_under(fleet, thread_id, first["epoch"])
            fleet[0].thaw()
            # It sees by itself that the run is not its own any more.
            while (await gauges_of(fleet[0]))["research_slots_used"][""]:
                await asyncio.sleep(0.05)
            await reading
        last = (await runs_of(fleet, thread_id))[0]
        assert last["status"] == "succeeded"
        assert (last["epoch"], last["worker_id"]) == (taken["epoch"], taken["worker_id"])
        assert last["attempt"] == 2
        events = await events_of(fleet, thread_id)
        assert [name for *_, name in events if name == "run.started"] == ["run.started"] * 2
        assert not [e for e in events if first["epoch"] < e[0] < taken["epoch"]]
        assert await told_under(fleet, thread_id, first["epoch"]) == owned
        await reader.has_all(b)
        # One chain of checkpoints: each has one child at most.
        forks = await query(
            fleet,
            """
            SELECT parent_checkpoint_id, count(*) AS n FROM checkpoints WHERE thread_id = %s
            GROUP BY parent_checkpoint_id HAVING count(*) > 1
            """,
            thread_id,
        )
        assert not forks
        versions = (await state(b, thread_id))["values"]["versions"]
        assert len(versions) == 1


async def test_f39_frozen_for_less_than_the_lease_it_goes_on(fleet: Fleet) -> None:
    async with fleet[0].client() as a:
        thread_id = await begun(a)
        reader = Roamer(fleet, thread_id)
        async with asyncio.TaskGroup() as group:
            group.create_task(all_end([reader], seconds=60))
            fleet[0].freeze()
            await asyncio.sleep(1)  # a third of the lease: nobody may take the run
            fleet[0].thaw()
        run = (await runs_of(fleet, thread_id))[0]
        assert (run["status"], run["attempt"]) == ("succeeded", 1)
        await reader.has_all(a)
