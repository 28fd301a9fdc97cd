"""The tables of the index: segments, their parts, their postings. Written by the indexer."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from app.library.segment import LARGEST, Part, Source, merge
from registry.database import Database, Row, Transaction

FAN: Final = 8  # segments of one tier that are merged into one of the next
QUIET_FAN: Final = 3  # the same when nothing else is left to do
KEPT_SECONDS: Final = 60  # a merged segment stays this long, for searches under way
_DEAD_SHARE: Final = 0.2
_ROWS: Final = 20_000  # postings per statement


async def insert_segment(
    tx: Transaction,
    *,
    owner: str | None,
    lengths: bytes,
    parts: Sequence[Part],
    postings: Mapping[str, bytes],
) -> None:
    row = await tx.fetch_one(
        """
        INSERT INTO segments (owner, passages, lengths)
        VALUES (%(owner)s, %(passages)s, %(lengths)s) RETURNING segment_id
        """,
        {"owner": owner, "passages": len(lengths) // 2, "lengths": lengths},
    )
    segment_id = row["segment_id"] if row else None
    await tx.execute(
        """
        INSERT INTO segment_parts (segment_id, first, count, snapshot_id)
        SELECT %(segment_id)s, * FROM unnest(%(firsts)s::int[], %(counts)s::int[], %(ids)s::uuid[])
        """,
        {
            "segment_id": segment_id,
            "firsts": [part.first for part in parts],
            "counts": [part.count for part in parts],
            "ids": [UUID(part.snapshot_id) for part in parts],
        },
    )
    names = sorted(postings)
    for at in range(0, len(names), _ROWS):
        some = names[at : at + _ROWS]
        await tx.execute(
            """
            INSERT INTO postings (segment_id, term, data)
            SELECT %(segment_id)s, * FROM unnest(%(terms)b::text[], %(data)b::bytea[])
            """,
            {"segment_id": segment_id, "terms": some, "data": [postings[name] for name in some]},
        )


async def kill_parts(tx: Transaction, snapshot_ids: Sequence[UUID]) -> None:
    """From this commit on no search finds passages of these snapshots."""
    await _alone(tx)
    await tx.execute(
        """
        WITH dead AS (
            UPDATE segment_parts SET live = false
            WHERE snapshot_id = ANY(%(ids)s::uuid[]) AND live RETURNING segment_id)
        UPDATE segments SET version = version + 1 WHERE segment_id IN (SELECT segment_id FROM dead)
        """,
        {"ids": list(snapshot_ids)},
    )


async def _alone(tx: Transaction) -> None:
    """No merge while parts die, and none dies while a merge copies it. Searches go on."""
    await tx.execute("LOCK TABLE segments IN SHARE ROW EXCLUSIVE MODE")


async def purge_retired(database: Database) -> None:
    """Removes segments that were merged a while ago."""
    async with database.transaction() as tx:
        rows = await tx.fetch(
            """
            DELETE FROM segments
            WHERE retired_at < now() - make_interval(secs => %(kept)s) RETURNING segment_id
            """,
            {"kept": KEPT_SECONDS},
        )
        if rows:
            await tx.execute(
                "DELETE FROM postings WHERE segment_id = ANY(%(ids)s)",
                {"ids": [row["segment_id"] for row in rows]},
            )


async def next_merge(database: Database, fan: int = FAN) -> tuple[str | None, list[int]] | None:
    """What to merge now: an owner and the segments, or None where all is well.

    A smaller `fan` leaves fewer segments, for more work.
    """
    rows = await database.fetch(
        """
        SELECT s.segment_id, s.owner, coalesce(sum(p.count) FILTER (WHERE p.live), 0)::int AS live,
               s.passages
        FROM segments s LEFT JOIN segment_parts p USING (segment_id)
        WHERE s.retired_at IS NULL
        GROUP BY s.segment_id ORDER BY s.segment_id
        """
    )
    tiers: dict[tuple[str | None, int], list[Row]] = {}
    for row in rows:
        if row["passages"] - row["live"] > _DEAD_SHARE * row["passages"]:
            return row["owner"], [row["segment_id"]]
        tiers.setdefault((row["owner"], _tier(row["live"])), []).append(row)
    for (owner, _), group in tiers.items():
        if len(group) < fan:
            continue
        chosen: list[int] = []
        size = 0
        for row in group:
            if size + row["live"] <= LARGEST:
                chosen.append(row["segment_id"])
                size += row["live"]
        if len(chosen) > 1:
            return owner, chosen
    return None


def _tier(passages: int) -> int:
    """Each tier holds segments up to `FAN` times as large as the one before; the last is full."""
    bounds = (1_500, 12_000, LARGEST // 2)
    return sum(passages > bound for bound in bounds)


async def _source(tx: Transaction, segment_id: int) -> Source:
    head = await tx.fetch_one(
        "SELECT lengths FROM segments WHERE segment_id = %(id)s", {"id": segment_id}
    )
    parts = await tx.fetch(
        """
        SELECT first, count, snapshot_id FROM segment_parts
        WHERE segment_id = %(id)s AND live ORDER BY first
        """,
        {"id": segment_id},
    )
    postings = await tx.fetch(
        "SELECT term, data FROM postings WHERE segment_id = %(id)s ORDER BY term",
        {"id": segment_id},
    )
    return Source(
        lengths=bytes(head["lengths"]) if head else b"",
        live=[Part(row["first"], row["count"], str(row["snapshot_id"])) for row in parts],
        terms=[row["term"] for row in postings],
        data=[row["data"] for row in postings],
    )


async def merge_segments(tx: Transaction, owner: str | None, segment_ids: Sequence[int]) -> None:
    """Replaces segments by one with all that lives in them, in the caller's transaction."""
    await _alone(tx)
    sources = [await _source(tx, segment_id) for segment_id in segment_ids]
    lengths, parts, postings = merge(sources)
    if parts:
        await insert_segment(tx, owner=owner, lengths=lengths, parts=parts, postings=postings)
    await tx.execute(
        "UPDATE segments SET retired_at = now() WHERE segment_id = ANY(%(ids)s)",
        {"ids": list(segment_ids)},
    )
