"""The durable timeline: lifecycle events, written in the transaction of what they report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from registry.database import Database, Row, Transaction
from registry.events import Event, EventId, scrub


@dataclass(frozen=True, slots=True)
class Entry:
    """One durable event. `run_id` is the run it belongs to."""

    id: EventId
    run_id: UUID | None
    name: str
    data: dict[str, Any]

    def event(self) -> Event:
        return Event.make(self.id, self.name, self.data)

    def as_dict(self) -> dict[str, Any]:
        return {"id": str(self.id), "event": self.name, "data": self.data}


async def record(tx: Transaction, thread_id: UUID, run_id: UUID | None, *events: Event) -> None:
    """Appends events, in the caller's transaction."""
    for event in events:
        await tx.execute(
            """
            INSERT INTO timeline (thread_id, epoch, seq, run_id, name, data)
            VALUES (%(thread_id)s, %(epoch)s, %(seq)s, %(run_id)s, %(name)s, %(data)s)
            """,
            {
                "thread_id": thread_id,
                "epoch": event.id.epoch,
                "seq": event.id.seq,
                "run_id": run_id,
                "name": event.name,
                "data": Jsonb(scrub(event.data)),
            },
        )


class Timeline:
    """Reads of the timeline. Ownership is the caller's to check."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def since(self, thread_id: UUID, cursor: EventId) -> Sequence[Entry]:
        """Entries at or after the cursor, in order; the one at the cursor included."""
        rows = await self._database.fetch(
            """
            SELECT epoch, seq, run_id, name, data FROM timeline
            WHERE thread_id = %(thread_id)s AND (epoch, seq) >= (%(epoch)s, %(seq)s)
            ORDER BY epoch, seq
            """,
            {"thread_id": thread_id, "epoch": cursor.epoch, "seq": cursor.seq},
        )
        return [_entry(row) for row in rows]

    async def last(self, thread_id: UUID) -> Entry | None:
        """The latest durable event of the thread."""
        rows = await self._database.fetch(
            """
            SELECT epoch, seq, run_id, name, data FROM timeline
            WHERE thread_id = %(thread_id)s ORDER BY epoch DESC, seq DESC LIMIT 1
            """,
            {"thread_id": thread_id},
        )
        return _entry(rows[0]) if rows else None


def _entry(row: Row) -> Entry:
    return Entry(EventId(row["epoch"], row["seq"]), row["run_id"], row["name"], row["data"])
