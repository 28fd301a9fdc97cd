"""A graph with next to no state, and threads for it; for what is about the saver alone."""

from typing import Any, TypedDict
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph

from registry.database import Database
from registry.ids import uuid7

NODES = 10


class Tiny(TypedDict):
    count: int
    seen: list[int]


def chain(nodes: int = NODES, node: Any = None) -> Any:
    """`nodes` in a row, each of which counts and remembers, or is the function `node`."""

    def count(state: Tiny) -> dict[str, Any]:
        return {"count": state["count"] + 1, "seen": [*state["seen"], state["count"]]}

    graph = StateGraph(Tiny)
    before = START
    for number in range(nodes):
        name = f"n{number}"
        graph.add_node(name, node or count)
        graph.add_edge(before, name)
        before = name
    return graph.compile()


BEGIN: Tiny = {"count": 0, "seen": []}


async def new_thread(database: Database, epoch: int = 1) -> UUID:
    thread_id = uuid7()
    await database.execute(
        """
        INSERT INTO threads (thread_id, owner, title, question, input, epoch)
        VALUES (%(id)s, 'ann', 't', 'q', '{}', %(epoch)s)
        """,
        {"id": thread_id, "epoch": epoch},
    )
    return thread_id


async def claim(database: Database, thread_id: UUID) -> int:
    """Raises the epoch as a claim does, and says which it is now."""
    row = await database.fetch_one(
        "UPDATE threads SET epoch = epoch + 1 WHERE thread_id = %(id)s RETURNING epoch",
        {"id": thread_id},
    )
    assert row is not None
    return int(row["epoch"])


def config_of(thread_id: UUID) -> RunnableConfig:
    return {"configurable": {"thread_id": str(thread_id)}}


async def written(database: Database, thread_id: UUID) -> tuple[int, int, int]:
    """Rows of the thread: checkpoints, blobs, writes."""
    row = await database.fetch_one(
        """
        SELECT (SELECT count(*) FROM checkpoints WHERE thread_id = %(id)s) AS checkpoints,
               (SELECT count(*) FROM checkpoint_blobs WHERE thread_id = %(id)s) AS blobs,
               (SELECT count(*) FROM checkpoint_writes WHERE thread_id = %(id)s) AS writes
        """,
        {"id": str(thread_id)},
    )
    assert row is not None
    return row["checkpoints"], row["blobs"], row["writes"]


async def is_one_chain(database: Database, thread_id: UUID) -> bool:
    """Each checkpoint but the first has a parent, and none has two children."""
    rows = await database.fetch(
        """
        SELECT checkpoint_id AS id, parent_checkpoint_id AS parent FROM checkpoints
        WHERE thread_id = %(id)s AND checkpoint_ns = ''
        """,
        {"id": str(thread_id)},
    )
    ids = {row["id"] for row in rows}
    parents = [row["parent"] for row in rows]
    return (
        bool(rows)
        and parents.count(None) == 1
        and len(set(parents)) == len(parents)
        and ids >= {parent for parent in parents if parent is not None}
    )
