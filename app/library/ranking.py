"""Ranking: the index in Postgres, read as far as a question needs it, scored in a thread.

Nothing is loaded ahead and nothing is derived beside the database: what a transaction has
committed is found by the next search, in every worker. Segments never change, so what was
read of them is cached by id; only which of their parts live is read again, by version.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from app.library.bm25 import Block, Candidate, View, best
from app.library.segment import RECORD
from graph.text.words import query_terms
from registry.database import Database, Row

CACHE_BYTES: Final = 96 * 1024 * 1024
MOST_TERMS: Final = 64  # of one question; the rest of a long one adds time, not sense
MOST_VIEWS: Final = 4096


class Ranking:
    def __init__(self, database: Database, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._database = database
        self._views: OrderedDict[int, tuple[int, View]] = OrderedDict()  # with its version
        # None: the segment does not hold the term.
        self._blocks: OrderedDict[tuple[int, str], Block | None] = OrderedDict()
        self._held = 0
        self._cap = cache_bytes

    async def search(self, query: str, *, owner: str, limit: int) -> list[Candidate]:
        """The best passages in what `owner` may see; the caller still has to ask the tables."""
        counts = Counter(query_terms(query))
        asked = dict(list(counts.items())[:MOST_TERMS])
        if not asked:
            return []
        views = await self._visible(owner)
        blocks = await self._read([view.segment_id for view in views], list(asked))
        return await asyncio.to_thread(best, views, blocks, asked, limit)

    async def _visible(self, owner: str) -> list[View]:
        rows = await self._database.fetch(
            """
            SELECT segment_id, version FROM segments
            WHERE retired_at IS NULL AND (owner IS NULL OR owner = %(owner)s)
            ORDER BY segment_id
            """,
            {"owner": owner},
        )
        known = dict(self._views)
        missing = [
            row["segment_id"]
            for row in rows
            if row["segment_id"] not in known or known[row["segment_id"]][0] != row["version"]
        ]
        if missing:
            known.update(await self._load(missing))
        out: list[View] = []
        for row in rows:
            held = known.get(row["segment_id"])
            if held is not None:  # else it was removed in between
                self._views[row["segment_id"]] = held
                self._views.move_to_end(row["segment_id"])
                out.append(held[1])
        while len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return out

    async def _load(self, segments: Sequence[int]) -> dict[int, tuple[int, View]]:
        rows = await self._database.fetch(
            """
            SELECT s.segment_id, s.version, s.lengths,
                   array_agg(p.first ORDER BY p.first) AS firsts,
                   array_agg(p.count ORDER BY p.first) AS counts,
                   array_agg(p.live ORDER BY p.first) AS live,
                   array_agg(p.snapshot_id::text ORDER BY p.first) AS snapshots
            FROM segments s JOIN segment_parts p USING (segment_id)
            WHERE s.segment_id = ANY(%(segments)s)
            GROUP BY s.segment_id
            """,
            {"segments": list(segments)},
        )
        return {row["segment_id"]: (row["version"], _view(row)) for row in rows}

    async def _read(
        self, segments: Sequence[int], terms: Sequence[str]
    ) -> dict[tuple[int, str], Block]:
        """Blocks of these terms in these segments, from the cache where it has them."""
        wanted = [(segment, term) for segment in segments for term in terms]
        missing = [key for key in wanted if key not in self._blocks]
        found: dict[tuple[int, str], Block | None] = {}
        if missing:
            rows = await self._database.fetch(
                """
                SELECT segment_id, term, data FROM postings
                WHERE segment_id = ANY(%(segments)s) AND term = ANY(%(terms)s)
                """,
                {
                    "segments": list({segment for segment, _ in missing}),
                    "terms": list({term for _, term in missing}),
                },
            )
            found = dict.fromkeys(missing)
            found.update(((row["segment_id"], row["term"]), _block(row)) for row in rows)
        out: dict[tuple[int, str], Block] = {}
        for key in wanted:
            if key in found:
                block = found[key]
                self._keep(key, block)
            else:
                self._blocks.move_to_end(key)
                block = self._blocks[key]
            if block is not None:
                out[key] = block
        self._shrink()
        return out

    def _keep(self, key: tuple[int, str], block: Block | None) -> None:
        if key in self._blocks:  # read by another search meanwhile
            self._held -= _cost(self._blocks.pop(key))
        self._blocks[key] = block
        self._held += _cost(block)

    def _shrink(self) -> None:
        while self._held > self._cap and self._blocks:
            _, block = self._blocks.popitem(last=False)
            self._held -= _cost(block)


def _cost(block: Block | None) -> int:
    return 120 if block is None else block.nbytes


def _block(row: Row) -> Block:
    records = np.frombuffer(row["data"], RECORD)
    return Block(np.ascontiguousarray(records["passage"]), records["times"].astype(np.float32))


def _view(row: Row) -> View:
    lengths = np.frombuffer(row["lengths"], "<u2").astype(np.float32)
    live = None
    if not all(row["live"]):
        live = np.repeat(np.asarray(row["live"], np.bool_), row["counts"])
    alive = lengths if live is None else lengths[live]
    return View(
        segment_id=row["segment_id"],
        lengths=lengths,
        live=live,
        starts=np.asarray(row["firsts"], np.int64),
        snapshots=row["snapshots"],
        count=len(alive),
        total=float(alive.sum()),
    )
