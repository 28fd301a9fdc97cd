"""Threads: who owns which conversation. The owner is part of every query, never a later check."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from registry.database import Database, Row, Transaction
from registry.errors import NotFound
from registry.run import Thread


async def insert_thread(
    tx: Transaction,
    *,
    thread_id: UUID,
    owner: str,
    title: str,
    question: str,
    input: dict[str, Any],  # noqa: A002 - the column's name
) -> None:
    """A new thread; its first event is numbered with epoch 1."""
    await tx.execute(
        """
        INSERT INTO threads (thread_id, owner, title, question, input, epoch)
        VALUES (%(thread_id)s, %(owner)s, %(title)s, %(question)s, %(input)s, 1)
        """,
        {
            "thread_id": thread_id,
            "owner": owner,
            "title": title,
            "question": question,
            "input": Jsonb(input),
        },
    )


async def lock_thread(tx: Transaction, owner: str, thread_id: UUID) -> Thread:
    """The thread, locked until the transaction ends: commands on a thread come one by one.

    Raises `NotFound` for an unknown, deleted or foreign thread.
    """
    row = await tx.fetch_one(
        """
        SELECT * FROM threads
        WHERE thread_id = %(thread_id)s AND owner = %(owner)s AND deleted_at IS NULL
        FOR UPDATE
        """,
        {"thread_id": thread_id, "owner": owner},
    )
    if row is None:
        raise NotFound("thread")
    return thread_of(row)


async def lock_run(tx: Transaction, thread_id: UUID) -> None:
    """The locked thread's active run, if there is one: its owner may hand it back without the
    thread's lock, so what is read from here on stays true."""
    await tx.execute(
        """
        SELECT 1 FROM runs
        WHERE thread_id = %(id)s AND status IN ('pending', 'running') FOR UPDATE
        """,
        {"id": thread_id},
    )


async def raise_epoch(tx: Transaction, thread_id: UUID) -> int:
    """The next epoch of a thread whose run nobody owns."""
    row = await tx.fetch_one(
        "UPDATE threads SET epoch = epoch + 1 WHERE thread_id = %(id)s RETURNING epoch",
        {"id": thread_id},
    )
    if row is None:
        raise NotFound("thread")
    return int(row["epoch"])


def thread_of(row: Row) -> Thread:
    return Thread(
        thread_id=row["thread_id"],
        owner=row["owner"],
        title=row["title"],
        question=row["question"],
        input=row["input"],
        epoch=row["epoch"],
        created_at=row["created_at"],
    )


class Threads:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, owner: str, thread_id: UUID) -> Thread:
        row = await self._database.fetch_one(
            """
            SELECT * FROM threads
            WHERE thread_id = %(thread_id)s AND owner = %(owner)s AND deleted_at IS NULL
            """,
            {"thread_id": thread_id, "owner": owner},
        )
        if row is None:
            raise NotFound("thread")
        return thread_of(row)

    async def get_any(self, thread_id: UUID) -> Thread:
        """For the run itself: whoever owns it, deleted or not."""
        row = await self._database.fetch_one(
            "SELECT * FROM threads WHERE thread_id = %(id)s", {"id": thread_id}
        )
        if row is None:
            raise NotFound("thread")
        return thread_of(row)

    async def history(
        self, owner: str, *, query: str, limit: int, after: UUID | None
    ) -> tuple[list[Row], UUID | None]:
        """One page, newest first, with the status of each thread's latest run; and where
        the next page starts, or None."""
        pattern = "%" + query.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = await self._database.fetch(
            """
            SELECT t.thread_id, t.title, t.question, t.created_at, r.run_id, r.status,
                   r.started_at, r.ended_at
            FROM threads t
            JOIN LATERAL (
                SELECT * FROM runs WHERE runs.thread_id = t.thread_id
                ORDER BY ordinal DESC LIMIT 1
            ) r ON true
            WHERE t.owner = %(owner)s AND t.deleted_at IS NULL
              AND (%(after)s::uuid IS NULL OR t.thread_id < %(after)s)
              AND (t.question ILIKE %(pattern)s OR t.title ILIKE %(pattern)s)
            ORDER BY t.thread_id DESC
            LIMIT %(limit)s
            """,
            {"owner": owner, "after": after, "pattern": pattern, "limit": limit + 1},
        )
        page = rows[:limit]
        return page, page[-1]["thread_id"] if len(rows) > limit else None

    async def mark_deleted(self, owner: str, thread_id: UUID) -> None:
        """From now on all other calls find no such thread; again is no error."""
        touched = await self._database.execute(
            """
            UPDATE threads SET deleted_at = coalesce(deleted_at, now())
            WHERE thread_id = %(thread_id)s AND owner = %(owner)s AND deleted_at IS NULL
            """,
            {"thread_id": thread_id, "owner": owner},
        )
        if touched == 0:
            raise NotFound("thread")

    async def to_purge(self, *, limit: int = 50) -> list[UUID]:
        """Deleted threads on which nothing runs any more."""
        rows = await self._database.fetch(
            """
            SELECT thread_id FROM threads t
            WHERE deleted_at IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM runs
                WHERE runs.thread_id = t.thread_id AND status IN ('pending', 'running'))
            ORDER BY deleted_at LIMIT %(limit)s
            """,
            {"limit": limit},
        )
        return [row["thread_id"] for row in rows]

    async def remove(self, thread_id: UUID) -> None:
        """The row and all that hangs on it."""
        await self._database.execute(
            "DELETE FROM threads WHERE thread_id = %(id)s AND deleted_at IS NOT NULL",
            {"id": thread_id},
        )
