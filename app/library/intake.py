"""Intake: documents read in this process, and their texts and index written in batches."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

import structlog

from app.library import lease
from app.library.documents import Todo, release
from app.library.formats.parsed import Laid, Unreadable, lay_out
from app.library.formats.read import BIGGEST, read_document, too_big
from app.library.passages import Cut, cut
from app.library.segment import LARGEST, SegmentBuilder, count_terms, pack_lengths
from app.library.segments import insert_segment
from app.library.snapshots import digest, insert_snapshot
from registry.database import Database, Transaction

BATCH_PASSAGES: Final = 1500
BATCH_SECONDS: Final = 1.5

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ready:
    """A document that was read; `laid` is None where its bytes are those of before."""

    todo: Todo
    content_hash: bytes
    title: str = ""
    date: str | None = None
    laid: Laid | None = None
    cuts: tuple[Cut, ...] = ()
    counts: tuple[Mapping[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    todo: Todo
    reason: str
    content_hash: bytes | None = None


def read_one(todo: Todo, tick: Callable[[], None] = lambda: None) -> Ready | Failed:
    """Reads, cuts and counts one file. Whatever is wrong with it is a reason, never an error."""
    data = b""
    try:
        data = _bytes_of(todo)
        return _read(todo, data, tick)
    except Unreadable as error:
        reason = error.reason
    except OSError as error:
        reason = f"it cannot be opened: {error.strerror or error}"
    except MemoryError:
        reason = "it needs more memory than there is"
    except Exception as error:
        # The edge around one file: what a reader raises must not stop the others.
        log.exception("document_reader_failed", name=todo.name)
        reason = f"its reader failed: {type(error).__name__}"
    return Failed(todo, reason, digest(data) if data else None)


def _bytes_of(todo: Todo) -> bytes:
    path = Path(todo.root) / todo.name
    size = path.stat().st_size
    if size > BIGGEST:
        raise Unreadable(too_big(size))
    return path.read_bytes()


def _read(todo: Todo, data: bytes, tick: Callable[[], None]) -> Ready:
    content_hash = digest(data)
    if content_hash == todo.content_hash and todo.snapshot_id is not None:
        return Ready(todo, content_hash)
    parsed = read_document(data, todo.name, tick)
    laid = lay_out(parsed.blocks)
    tick()
    cuts = tuple(cut(laid, parsed.title))
    if len(cuts) > LARGEST:
        raise Unreadable(f"{len(cuts):,} passages, over the limit of {LARGEST:,}")
    counts: list[Counter[str]] = []
    for piece in cuts:
        counts.append(count_terms(laid.text[piece.start : piece.end], piece.context))
        if len(counts) % 500 == 0:
            tick()
    return Ready(todo, content_hash, parsed.title, parsed.date, laid, cuts, tuple(counts))


class Batch:
    """What was read and is not yet written."""

    def __init__(self) -> None:
        self.items: list[Ready | Failed] = []
        self._since = time.monotonic()

    def add(self, item: Ready | Failed) -> None:
        if not self.items:
            self._since = time.monotonic()
        self.items.append(item)

    @property
    def full(self) -> bool:
        passages = sum(len(item.cuts) for item in self.items if isinstance(item, Ready))
        late = bool(self.items) and time.monotonic() - self._since > BATCH_SECONDS
        return passages >= BATCH_PASSAGES or late

    async def write(self, database: Database, holder: str) -> None:
        """All of it in one transaction, by the holder of the lease. Raises `LeaseLost`."""
        items, self.items = self.items, []
        if not items:
            return
        async with database.transaction() as tx:
            await lease.renew(tx, holder)
            current = await _current(tx, [item.todo for item in items])
            items = [item for item in items if item.todo.id in current]
            ready = [item for item in items if isinstance(item, Ready)]
            await _release_old(tx, items)
            keys = [await _store(tx, item) for item in ready]
            await _index(tx, ready, keys)
            for item in items:
                if isinstance(item, Failed):
                    await _mark_failed(tx, item)
        for item in items:
            if isinstance(item, Failed):
                log.warning("document_unreadable", name=item.todo.name, reason=item.reason)


async def _current(tx: Transaction, todos: list[Todo]) -> set[UUID]:
    """Those that did not change and were not removed while they were read, locked."""
    rows = await tx.fetch(
        """
        SELECT d.id FROM documents d
        JOIN unnest(%(ids)s::uuid[], %(sizes)s::bigint[], %(times)s::bigint[])
             AS t (id, size, changed_ns) USING (id, size, changed_ns)
        ORDER BY d.id FOR UPDATE OF d
        """,
        {
            "ids": [todo.id for todo in todos],
            "sizes": [todo.size for todo in todos],
            "times": [todo.changed_ns for todo in todos],
        },
    )
    return {row["id"] for row in rows}


async def _release_old(tx: Transaction, items: list[Ready | Failed]) -> None:
    old = [
        item.todo.snapshot_id
        for item in items
        if item.todo.snapshot_id and (isinstance(item, Failed) or item.laid is not None)
    ]
    await release(tx, old)


async def _store(tx: Transaction, item: Ready) -> UUID | None:
    """The text, its passages and the document's row; the key of a new snapshot."""
    key = None
    if item.laid is not None:
        key = await insert_snapshot(
            tx,
            kind="document",
            url=f"document:{item.todo.name}",
            title=item.title,
            date=item.date,
            text=item.laid.text,
        )
        await tx.execute(
            """
            INSERT INTO passages (snapshot_id, ordinal, start_at, end_at, heading, text)
            SELECT %(key)s, p.place - 1, p.start_at, p.end_at, p.heading, p.text
            FROM unnest(%(starts)b::int[], %(ends)b::int[], %(heads)b::text[], %(texts)b::text[])
                 WITH ORDINALITY AS p (start_at, end_at, heading, text, place)
            """,
            {
                "key": key,
                "starts": [piece.start for piece in item.cuts],
                "ends": [piece.end for piece in item.cuts],
                "heads": [piece.heading for piece in item.cuts],
                "texts": [item.laid.text[piece.start : piece.end] for piece in item.cuts],
            },
        )
        await tx.execute("UPDATE snapshots SET released_at = NULL WHERE id = %(key)s", {"key": key})
    await tx.execute(
        """
        UPDATE documents
        SET status = 'ready', reason = NULL, attempts = 0, content_hash = %(hash)s,
            snapshot_id = coalesce(%(key)s, snapshot_id),
            passages = CASE WHEN %(key)s::uuid IS NULL THEN passages ELSE %(passages)s END
        WHERE id = %(id)s
        """,
        {"id": item.todo.id, "hash": item.content_hash, "key": key, "passages": len(item.cuts)},
    )
    return key


async def _index(tx: Transaction, ready: list[Ready], keys: list[UUID | None]) -> None:
    """One segment per owner, or more where they would not fit into one."""
    builders: dict[str | None, list[SegmentBuilder]] = {}
    for item, key in zip(ready, keys, strict=True):
        if key is None:
            continue
        row = builders.setdefault(item.todo.owner, [SegmentBuilder()])
        if len(row[-1].lengths) + len(item.cuts) > LARGEST:
            row.append(SegmentBuilder())
        row[-1].add(str(key), item.counts)
    for owner, row in builders.items():
        for builder in row:
            await insert_segment(
                tx,
                owner=owner,
                lengths=pack_lengths(builder.lengths),
                parts=builder.parts,
                postings=builder.postings(),
            )


async def _mark_failed(tx: Transaction, item: Failed) -> None:
    await tx.execute(
        """
        UPDATE documents
        SET status = 'failed', reason = %(reason)s, content_hash = %(hash)s, snapshot_id = NULL,
            passages = 0
        WHERE id = %(id)s
        """,
        {"id": item.todo.id, "reason": item.reason, "hash": item.content_hash},
    )
