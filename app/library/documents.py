"""The documents table: what is there, what is to be read, and how that went."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from app.library.roots import Found, Survey
from app.library.segments import kill_parts
from graph.ports import Coverage
from registry.database import Database, Row, Transaction
from registry.ids import uuid7

READER: Final = 1  # raise it when the readers or the cutting change: all is read again
MOST_ATTEMPTS: Final = 3  # a file that took the reader down this often is given up


@dataclass(frozen=True, slots=True)
class Todo:
    """A document to be read, as the table described it when that began."""

    id: UUID
    owner: str | None
    root: str
    name: str
    size: int
    changed_ns: int
    content_hash: bytes | None
    attempts: int
    snapshot_id: UUID | None


class Documents:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def listing(self, owner: str) -> list[dict[str, Any]]:
        """What this user may search, by name; `reason` where a file could not be read."""
        rows = await self._database.fetch(
            """
            SELECT id, name, status, reason, size, passages, owner IS NULL AS shared
            FROM documents WHERE owner IS NULL OR owner = %(owner)s
            ORDER BY name, id
            """,
            {"owner": owner},
        )
        return [
            {
                "id": str(row["id"]),
                "name": row["name"],
                "status": row["status"],
                "reason": row["reason"],
                "bytes": row["size"],
                "passages": row["passages"],
                "shared": row["shared"],
            }
            for row in rows
        ]

    async def coverage(self, owner: str | None) -> Coverage:
        """Counts of what is shared, and of what is the owner's where one is given."""
        row = await self._database.fetch_one(
            """
            SELECT count(*) FILTER (WHERE status = 'ready')::int AS indexed,
                   count(*) FILTER (WHERE status IN ('queued', 'indexing'))::int AS pending,
                   count(*) FILTER (WHERE status = 'failed')::int AS failed
            FROM documents WHERE owner IS NULL OR owner = %(owner)s
            """,
            {"owner": owner},
        )
        return Coverage(**row) if row else Coverage(0, 0, 0)

    async def reconcile(self, seen: Survey) -> None:
        """Makes the shared documents those that the survey found."""
        rows = await self._database.fetch(
            """
            SELECT id, root, name, size, changed_ns, reader, snapshot_id
            FROM documents WHERE owner IS NULL
            """
        )
        known = {(row["root"], row["name"]): row for row in rows}
        found = {(file.root, file.name): file for file in seen.found}
        fresh = [file for key, file in found.items() if key not in known]
        changed = [
            (row, file)
            for key, file in found.items()
            if (row := known.get(key)) is not None and _differs(row, file)
        ]
        gone = [row for key, row in known.items() if key not in found and not _unseen(seen, *key)]
        if not (fresh or changed or gone):
            return
        async with self._database.transaction() as tx:
            await _insert(tx, fresh)
            await _requeue(tx, changed)
            await _remove(tx, gone)

    async def todo(self, limit: int) -> list[Todo]:
        """The next to be read, the oldest first."""
        rows = await self._database.fetch(
            """
            SELECT id, owner, root, name, size, changed_ns, content_hash, attempts, snapshot_id
            FROM documents WHERE status IN ('queued', 'indexing')
            ORDER BY created_at, name LIMIT %(limit)s
            """,
            {"limit": limit},
        )
        return [Todo(**row) for row in rows]

    async def begin(self, ids: Sequence[UUID]) -> None:
        await self._database.execute(
            """
            UPDATE documents SET status = 'indexing', attempts = attempts + 1
            WHERE id = ANY(%(ids)s::uuid[])
            """,
            {"ids": list(ids)},
        )


def _differs(row: Row, file: Found) -> bool:
    now = (file.size, file.changed_ns, READER)
    return (row["size"], row["changed_ns"], row["reader"]) != now


def _unseen(seen: Survey, root: str, name: str) -> bool:
    return any(
        root == at and (not prefix or name.startswith(f"{prefix}/")) for at, prefix in seen.unseen
    )


async def _insert(tx: Transaction, files: Sequence[Found]) -> None:
    if files:
        await tx.execute(
            """
            INSERT INTO documents (id, root, name, size, changed_ns, reader)
            SELECT id, root, name, size, changed_ns, %(reader)s
            FROM unnest(%(ids)s::uuid[], %(roots)s::text[], %(names)s::text[],
                        %(sizes)s::bigint[], %(times)s::bigint[])
                 AS f (id, root, name, size, changed_ns)
            ON CONFLICT (root, name) WHERE owner IS NULL DO NOTHING
            """,
            {
                "reader": READER,
                "ids": [uuid7() for _ in files],
                "roots": [file.root for file in files],
                "names": [file.name for file in files],
                "sizes": [file.size for file in files],
                "times": [file.changed_ns for file in files],
            },
        )


async def _requeue(tx: Transaction, changed: Sequence[tuple[Row, Found]]) -> None:
    """The text of before stays searchable until the new one is there."""
    if changed:
        await tx.execute(
            """
            UPDATE documents d
            SET size = f.size, changed_ns = f.changed_ns, status = 'queued', attempts = 0,
                content_hash = CASE WHEN d.reader = %(reader)s THEN d.content_hash END,
                reader = %(reader)s
            FROM unnest(%(ids)s::uuid[], %(sizes)s::bigint[], %(times)s::bigint[])
                 AS f (id, size, changed_ns)
            WHERE d.id = f.id
            """,
            {
                "reader": READER,
                "ids": [row["id"] for row, _ in changed],
                "sizes": [file.size for _, file in changed],
                "times": [file.changed_ns for _, file in changed],
            },
        )


async def _remove(tx: Transaction, rows: Sequence[Row]) -> None:
    if rows:
        deleted = await tx.fetch(
            "DELETE FROM documents WHERE id = ANY(%(ids)s::uuid[]) RETURNING snapshot_id",
            {"ids": [row["id"] for row in rows]},
        )
        await release(tx, [row["snapshot_id"] for row in deleted if row["snapshot_id"]])


async def release(tx: Transaction, snapshot_ids: Sequence[UUID]) -> None:
    """These are no document's text any more: never found again, read only by their threads."""
    if snapshot_ids:
        ids = {"ids": list(snapshot_ids)}
        await tx.execute(
            "UPDATE snapshots SET released_at = now() WHERE id = ANY(%(ids)s::uuid[])", ids
        )
        await tx.execute("DELETE FROM passages WHERE snapshot_id = ANY(%(ids)s::uuid[])", ids)
        await kill_parts(tx, snapshot_ids)
