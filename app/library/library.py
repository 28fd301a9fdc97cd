"""DocumentLibrary: the workflow's `Library` port over the tables and the ranking.

The ranking proposes, the tables decide: a hit is shown only if its snapshot is the current
text of a document that is everybody's or the asking user's, in the query that reads it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from app.library.bm25 import Candidate
from app.library.documents import Documents
from app.library.ranking import Ranking
from app.library.snapshots import Snapshots
from graph.ports import Coverage, Passage, Ref
from registry.database import Database, Row
from registry.patience import patiently

_WIDER: Final = 4  # candidates looked at, per passage asked for
_REPEAT: Final = 0.9  # what each further passage of one document keeps of its score


class DocumentLibrary:
    """What nodes of a run ask waits for a database that restarts; all else fails at once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._ranking = Ranking(database)
        self.documents = Documents(database)
        self.snapshots = Snapshots(database)

    async def search(self, query: str, *, owner: str, limit: int) -> list[Passage]:
        """The best passages for `query`, best first; at most `limit`, none twice."""
        return await patiently(lambda: self._search(query, owner, limit))

    async def _search(self, query: str, owner: str, limit: int) -> list[Passage]:
        wide = max(limit * _WIDER, 40)
        while True:
            found = await self._ranking.search(query, owner=owner, limit=wide)
            rows = await self._visible(found, owner)
            # Texts that went a moment ago make room for others, once they are seen to.
            if len(rows) >= limit or len(found) < wide or wide > 100 * limit:
                break
            wide *= 4
        return _chosen(rows, found, limit)

    async def _visible(self, found: Sequence[Candidate], owner: str) -> list[Row]:
        if not found:
            return []
        return await self.database.fetch(
            """
            SELECT DISTINCT ON (c.place) c.place, p.snapshot_id, p.start_at, p.end_at, p.heading,
                   p.text, s.url, s.title, s.kind, s.date
            FROM unnest(%(keys)s::uuid[], %(ordinals)s::int[])
                 WITH ORDINALITY AS c (snapshot_id, ordinal, place)
            JOIN passages p USING (snapshot_id, ordinal)
            JOIN snapshots s ON s.id = p.snapshot_id
            JOIN documents d ON d.snapshot_id = s.id
            WHERE d.owner IS NULL OR d.owner = %(owner)s
            ORDER BY c.place
            """,
            {
                "keys": [UUID(item.snapshot_id) for item in found],
                "ordinals": [item.ordinal for item in found],
                "owner": owner,
            },
        )

    async def read(self, refs: Sequence[Ref]) -> list[str]:
        """The text of each span, in the order asked; "" where a snapshot is gone."""
        return await patiently(lambda: self.snapshots.read(refs)) if refs else []

    async def keep(self, thread_id: str, keys: Sequence[str]) -> None:
        """Keeps these snapshots for as long as the thread lives. Idempotent."""
        await patiently(lambda: self.snapshots.keep(thread_id, keys))

    async def coverage(self, *, owner: str) -> Coverage:
        return await patiently(lambda: self.documents.coverage(owner))

    async def listing(self, *, owner: str) -> list[dict[str, Any]]:
        """The documents of `GET /api/documents`."""
        return await self.documents.listing(owner)

    async def snapshot(self, key: str) -> str | None:
        """The whole stored text; None where it is gone. Who may read it is the caller's check."""
        return await self.snapshots.text(key)


def _chosen(rows: Sequence[Row], found: Sequence[Candidate], limit: int) -> list[Passage]:
    """Best first, a document's further passages a little later, equal texts once."""
    waiting = [(found[row["place"] - 1].score, row) for row in rows]
    taken: Counter[UUID] = Counter()
    texts: set[str] = set()
    out: list[Passage] = []
    while waiting and len(out) < limit:
        worth = [score * _REPEAT ** taken[row["snapshot_id"]] for score, row in waiting]
        score, row = waiting.pop(worth.index(max(worth)))
        if row["text"] not in texts:
            texts.add(row["text"])
            taken[row["snapshot_id"]] += 1
            out.append(_passage(row, score))
    return out


def _passage(row: Row, score: float) -> Passage:
    return Passage(
        ref=Ref(str(row["snapshot_id"]), row["start_at"], row["end_at"]),
        text=row["text"],
        url=row["url"],
        title=row["title"],
        kind=row["kind"],
        date=row["date"],
        score=score,
        heading=row["heading"],
    )
