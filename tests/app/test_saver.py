"""The saver of a run: fenced, safe to do twice, and still the class that it overrides."""

import inspect
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any
from uuid import UUID

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from app.saver import RunSaver
from registry.database import Database
from registry.errors import LeaseLost
from tests.app.tiny import BEGIN, NODES, chain, claim, config_of, is_one_chain, new_thread, written


@pytest.fixture(params=[False, True], ids=["pipeline", "pooler"])
async def store(database_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """Both ways of writing: with a pipeline, and with what works behind a pooler."""
    made = Database(database_url, size=4, pooler=request.param)
    await made.open()
    yield made
    await made.close()


def one_write(thread_id: UUID) -> dict[str, Any]:
    """Arguments of `aput` for a checkpoint with a row in each table."""
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"seen": [1, 2, 3]}
    checkpoint["channel_versions"] = {"seen": "1"}
    return {
        "config": {"configurable": {"thread_id": str(thread_id), "checkpoint_ns": ""}},
        "checkpoint": checkpoint,
        "metadata": {"source": "input", "step": 1, "parents": {}},
        "new_versions": {"seen": "1"},
    }


async def test_a_run_writes_under_its_epoch_alone(store: Database) -> None:
    thread_id = await new_thread(store)
    graph = chain()
    mine = graph.copy(update={"checkpointer": RunSaver(store, (thread_id, 1))})
    done = await mine.ainvoke(BEGIN, config_of(thread_id), durability="sync")
    assert done["count"] == NODES
    before = await written(store, thread_id)
    assert before[0] == NODES + 2
    assert await is_one_chain(store, thread_id)

    epoch = await claim(store, thread_id)
    with pytest.raises(LeaseLost):
        await mine.ainvoke(BEGIN, config_of(thread_id), durability="sync")
    assert await written(store, thread_id) == before

    theirs = graph.copy(update={"checkpointer": RunSaver(store, (thread_id, epoch))})
    await theirs.ainvoke(BEGIN, config_of(thread_id), durability="sync")
    assert (await written(store, thread_id))[0] == 2 * (NODES + 2)
    stats = store.pool.get_stats()
    assert stats["pool_available"] == stats["pool_size"]


async def test_every_kind_of_write_is_fenced(store: Database) -> None:
    thread_id = await new_thread(store, epoch=7)
    write = one_write(thread_id)
    held = await RunSaver(store, (thread_id, 7)).aput(**write)
    await claim(store, thread_id)
    before = await written(store, thread_id)
    assert before == (1, 1, 0)
    late = RunSaver(store, (thread_id, 7))
    with pytest.raises(LeaseLost):
        await late.aput(**one_write(thread_id))
    with pytest.raises(LeaseLost):
        await late.aput_writes(held, [("seen", [4])], "task")
    with pytest.raises(LeaseLost):
        await late.adelete_thread(str(thread_id))
    assert await written(store, thread_id) == before


async def test_a_thread_that_is_gone_lets_nothing_pass(store: Database) -> None:
    thread_id = await new_thread(store)
    await store.execute("DELETE FROM threads WHERE thread_id = %(id)s", {"id": thread_id})
    with pytest.raises(LeaseLost):
        await RunSaver(store, (thread_id, 1)).aput(**one_write(thread_id))
    assert await written(store, thread_id) == (0, 0, 0)


async def test_a_write_may_be_done_twice(store: Database) -> None:
    """What makes it right to try again after an answer that never came."""
    thread_id = await new_thread(store)
    saver = RunSaver(store, (thread_id, 1))
    write = one_write(thread_id)
    held = await saver.aput(**write)
    await saver.aput_writes(held, [("seen", [4]), ("seen", [5])], "task")
    once = await saver.aget_tuple(held)
    rows = await written(store, thread_id)
    assert await saver.aput(**write) == held
    await saver.aput_writes(held, [("seen", [4]), ("seen", [5])], "task")
    assert await written(store, thread_id) == rows
    assert await saver.aget_tuple(held) == once
    assert once is not None
    assert once.pending_writes == [("task", "seen", [4]), ("task", "seen", [5])]


async def test_what_cannot_be_stored_leaves_the_connection_usable(store: Database) -> None:
    thread_id = await new_thread(store)
    saver = RunSaver(store, (thread_id, 1))
    write = one_write(thread_id)
    write["metadata"] = {**write["metadata"], "odd": object()}
    with pytest.raises(TypeError):
        await saver.aput(**write)
    assert (await written(store, thread_id))[0] == 0
    await saver.aput(**one_write(thread_id))
    stats = store.pool.get_stats()
    assert stats["pool_available"] == stats["pool_size"]


def test_the_private_method_that_is_overridden_is_as_it_was() -> None:
    """The fence stands in `_cursor`; another version may write past it. Look before you raise
    this number: each write must still go through one `_cursor(pipeline=True)`."""
    assert version("langgraph-checkpoint-postgres") == "3.2.0"
    cursor = inspect.signature(AsyncPostgresSaver._cursor)
    assert str(cursor).partition(" ->")[0] == "(self, *, pipeline: 'bool' = False)"
    for name in ("aput", "aput_writes", "adelete_thread"):
        source = inspect.getsource(getattr(AsyncPostgresSaver, name))
        assert source.count("self._cursor(pipeline=True)") == 1, name
        assert "self.conn" not in source, name
