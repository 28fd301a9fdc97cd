"""The indexer's lease: one process indexes at a time, whatever stands before the database."""

from typing import Final

from registry.database import Database, Transaction
from registry.errors import LeaseLost

SECONDS: Final = 30


async def take(database: Database, holder: str) -> bool:
    """True if it is the holder's now."""
    touched = await database.execute(
        """
        INSERT INTO index_lease AS l (holder, until)
        VALUES (%(holder)s, now() + make_interval(secs => %(seconds)s))
        ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE l.until < now() OR l.holder = excluded.holder
        """,
        {"holder": holder, "seconds": SECONDS},
    )
    return touched == 1


async def renew(tx: Database | Transaction, holder: str) -> None:
    """Also the fence of a write: in its transaction nobody else can take over.

    Raises `LeaseLost`.
    """
    touched = await tx.execute(
        """
        UPDATE index_lease SET until = now() + make_interval(secs => %(seconds)s)
        WHERE holder = %(holder)s
        """,
        {"holder": holder, "seconds": SECONDS},
    )
    if touched != 1:
        raise LeaseLost


async def free(database: Database, holder: str) -> bool:
    """True where nobody else is indexing."""
    row = await database.fetch_one(
        "SELECT 1 FROM index_lease WHERE holder <> %(holder)s AND until > now()",
        {"holder": holder},
    )
    return row is None


async def give_back(database: Database, holder: str) -> None:
    await database.execute("DELETE FROM index_lease WHERE holder = %(holder)s", {"holder": holder})
