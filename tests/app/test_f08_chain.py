"""F08, at the checkpoints: two epochs of one thread, and what both wrote is one chain."""

import asyncio
import random
from typing import Any

import pytest

from app.saver import RunSaver
from registry.database import Database
from registry.errors import LeaseLost
from tests.app.tiny import (
    BEGIN,
    NODES,
    Tiny,
    chain,
    claim,
    config_of,
    is_one_chain,
    new_thread,
    written,
)

ROUNDS = 30


async def test_f08_the_old_epoch_leaves_no_row_and_the_new_one_goes_on(
    database: Database,
) -> None:
    """The first run stands in its sixth node when the second takes the thread over."""
    thread_id = await new_thread(database)
    arrived, release = asyncio.Event(), asyncio.Event()

    async def node(state: Tiny) -> dict[str, Any]:
        if state["count"] == 5 and not arrived.is_set():
            arrived.set()
            await release.wait()
            return {"count": 100, "seen": [100]}
        return {"count": state["count"] + 1, "seen": [*state["seen"], state["count"]]}

    graph = chain(node=node)
    old = graph.copy(update={"checkpointer": RunSaver(database, (thread_id, 1))})
    first = asyncio.get_running_loop().create_task(
        old.ainvoke(BEGIN, config_of(thread_id), durability="sync")
    )
    await arrived.wait()
    epoch = await claim(database, thread_id)
    new = graph.copy(update={"checkpointer": RunSaver(database, (thread_id, epoch))})
    done = await new.ainvoke(None, config_of(thread_id), durability="sync")
    assert done == {"count": NODES, "seen": list(range(NODES))}
    before = await written(database, thread_id)
    release.set()
    with pytest.raises(LeaseLost):
        await first
    assert await written(database, thread_id) == before
    assert before[0] == NODES + 2
    assert await is_one_chain(database, thread_id)
    state = await new.aget_state(config_of(thread_id))
    assert state.values == done


async def test_f08_runs_that_are_taken_over_at_random_make_one_chain(database: Database) -> None:
    """Both write as fast as they can; nobody waits for the other."""
    rng = random.Random(8)
    graph = chain()
    lost = 0
    for _ in range(ROUNDS):
        thread_id = await new_thread(database)
        old = graph.copy(update={"checkpointer": RunSaver(database, (thread_id, 1))})
        first = asyncio.get_running_loop().create_task(
            old.ainvoke(BEGIN, config_of(thread_id), durability="sync")
        )
        await asyncio.sleep(0.01 + rng.random() * 0.06)
        epoch = await claim(database, thread_id)
        new = graph.copy(update={"checkpointer": RunSaver(database, (thread_id, epoch))})
        begun = (await new.aget_state(config_of(thread_id))).values
        done = await new.ainvoke(None if begun else BEGIN, config_of(thread_id), durability="sync")
        await asyncio.wait({first})
        error = first.exception()
        assert error is None or isinstance(error, LeaseLost)
        lost += error is not None
        assert done == {"count": NODES, "seen": list(range(NODES))}
        assert await is_one_chain(database, thread_id)
    assert lost > ROUNDS // 4
