"""Requirements: wishes that came after the start. First a row, then applied at a boundary."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from registry.database import Database, Row, Transaction
from registry.errors import LeaseLost
from registry.ids import uuid7


async def insert_requirement(
    tx: Transaction, thread_id: UUID, body: Mapping[str, Any], *, announced: bool
) -> UUID:
    """`announced`: its event is written by the caller, in the same transaction."""
    requirement_id = uuid7()
    await tx.execute(
        """
        INSERT INTO requirements (requirement_id, thread_id, body, announced)
        VALUES (%(requirement_id)s, %(thread_id)s, %(body)s, %(announced)s)
        """,
        {
            "announced": announced,
            "requirement_id": requirement_id,
            "thread_id": thread_id,
            "body": Jsonb(dict(body)),
        },
    )
    return requirement_id


async def has_queued(tx: Transaction, thread_id: UUID) -> bool:
    row = await tx.fetch_one(
        """
        SELECT 1 FROM requirements
        WHERE thread_id = %(thread_id)s AND status = 'queued' LIMIT 1
        """,
        {"thread_id": thread_id},
    )
    return row is not None


async def mark_announced(tx: Transaction, thread_id: UUID, run_id: UUID, epoch: int) -> list[UUID]:
    """Marks what is queued and was in no event yet; their ids, oldest first.

    Raises `LeaseLost` where the run is not this epoch's to number events of any more.
    """
    row = await tx.fetch_one(
        """
        -- Both rows: of one that is not locked, an older version is read after a wait.
        SELECT 1 FROM threads t JOIN runs r USING (thread_id)
        WHERE r.run_id = %(run_id)s AND r.status = 'running' AND t.epoch = %(epoch)s
        FOR UPDATE OF t, r
        """,
        {"run_id": run_id, "epoch": epoch},
    )
    if row is None:
        raise LeaseLost
    rows = await tx.fetch(
        """
        UPDATE requirements SET announced = true
        WHERE thread_id = %(thread_id)s AND status = 'queued' AND NOT announced
        RETURNING requirement_id, created_at
        """,
        {"thread_id": thread_id},
    )
    rows.sort(key=lambda row: (row["created_at"], row["requirement_id"]))
    return [row["requirement_id"] for row in rows]


class Requirements:
    """What a body needs: what is queued, and to mark it taken."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def queued(self, thread_id: UUID) -> list[dict[str, Any]]:
        """Bodies with their `id`, oldest first."""
        rows = await self._database.fetch(
            """
            SELECT requirement_id, body FROM requirements
            WHERE thread_id = %(thread_id)s AND status = 'queued'
            ORDER BY created_at, requirement_id
            """,
            {"thread_id": thread_id},
        )
        return [{**row["body"], "id": str(row["requirement_id"])} for row in rows]

    async def mark(self, thread_id: UUID, epoch: int, ids: Sequence[str], status: str) -> None:
        """Only while `epoch` is the thread's: a zombie marks nothing."""
        await self._database.execute(
            """
            UPDATE requirements r SET status = %(status)s FROM threads t
            WHERE r.thread_id = %(thread_id)s AND r.requirement_id = ANY(%(ids)s::uuid[])
              AND t.thread_id = r.thread_id AND t.epoch = %(epoch)s
            """,
            {"thread_id": thread_id, "epoch": epoch, "ids": list(ids), "status": status},
        )

    async def of_thread(self, thread_id: UUID) -> list[Row]:
        """All of them with status and time, oldest first."""
        return await self._database.fetch(
            """
            SELECT requirement_id, body, status, created_at FROM requirements
            WHERE thread_id = %(thread_id)s ORDER BY created_at, requirement_id
            """,
            {"thread_id": thread_id},
        )
