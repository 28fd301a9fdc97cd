"""Snapshots: the stored texts that citations point into, and who keeps them.

A text is kept while it is the current one of a document, and for as long as a thread that
cites it lives. Any other goes some time after it was released, so that a search under way
can still read what it found.
"""

import hashlib
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from graph.ports import Ref, SourceKind
from registry.database import Database, Transaction
from registry.ids import uuid7

GRACE_SECONDS: Final = 900


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


async def insert_snapshot(
    tx: Transaction | Database,
    *,
    kind: SourceKind,
    url: str,
    title: str,
    date: str | None,
    text: str,
) -> UUID:
    """A new snapshot that nobody keeps yet. The text must be clean (`formats.parsed.clean`)."""
    key = uuid7()
    await tx.execute(
        """
        INSERT INTO snapshots (id, kind, url, title, date, text, content_hash)
        VALUES (%(id)s, %(kind)s, %(url)s, %(title)s, %(date)s, %(text)s, %(hash)s)
        """,
        {
            "id": key,
            "kind": kind,
            "url": url,
            "title": title,
            "date": date,
            "text": text,
            "hash": digest(text.encode()),
        },
    )
    return key


class Snapshots:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def store_page(self, *, url: str, title: str, date: str | None, text: str) -> str:
        """The key of a web page's text; the same page with the same text has the same key."""
        row = await self._database.fetch_one(
            """
            UPDATE snapshots SET released_at = now()
            WHERE id = (SELECT id FROM snapshots
                        WHERE kind = 'web' AND url = %(url)s AND content_hash = %(hash)s LIMIT 1)
            RETURNING id
            """,
            {"url": url, "hash": digest(text.encode())},
        )
        if row is not None:
            return str(row["id"])
        key = await insert_snapshot(
            self._database, kind="web", url=url, title=title, date=date, text=text
        )
        return str(key)

    async def text(self, key: str) -> str | None:
        row = await self._database.fetch_one(
            "SELECT text FROM snapshots WHERE id = %(id)s", {"id": _uuid(key)}
        )
        return None if row is None else str(row["text"])

    async def read(self, refs: Sequence[Ref]) -> list[str]:
        """The text of each span, in order; "" where a snapshot is gone."""
        rows = await self._database.fetch(
            """
            SELECT r.place, substr(s.text, r.start_at + 1, r.end_at - r.start_at) AS text
            FROM unnest(%(ids)s::uuid[], %(starts)s::int[], %(ends)s::int[])
                 WITH ORDINALITY AS r (id, start_at, end_at, place)
            JOIN snapshots s USING (id)
            WHERE r.end_at > r.start_at
            """,
            {
                "ids": [_uuid(ref.key) for ref in refs],
                "starts": [ref.start for ref in refs],
                "ends": [ref.end for ref in refs],
            },
        )
        texts = {row["place"]: row["text"] for row in rows}
        return [texts.get(place, "") for place in range(1, len(refs) + 1)]

    async def keep(self, thread_id: str, keys: Sequence[str]) -> None:
        """Keeps these for as long as the thread lives; what is gone already is passed over."""
        await self._database.execute(
            """
            INSERT INTO thread_snapshots (thread_id, snapshot_id)
            SELECT t.thread_id, s.id
            FROM threads t, snapshots s
            WHERE t.thread_id = %(thread_id)s AND s.id = ANY(%(ids)s::uuid[])
            FOR KEY SHARE OF s
            ON CONFLICT DO NOTHING
            """,
            {"thread_id": _uuid(thread_id), "ids": [_uuid(key) for key in keys]},
        )

    async def collect(self, grace_seconds: float = GRACE_SECONDS) -> int:
        """Deletes what nobody keeps any more; how many they were."""
        return await self._database.execute(
            """
            DELETE FROM snapshots s
            WHERE s.released_at < now() - make_interval(secs => %(grace)s)
              AND NOT EXISTS (SELECT 1 FROM thread_snapshots t WHERE t.snapshot_id = s.id)
              AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.snapshot_id = s.id)
            """,
            {"grace": grace_seconds},
        )


def _uuid(key: str) -> UUID | None:
    """None for what is no key: it matches nothing."""
    try:
        return UUID(key)
    except ValueError:
        return None
