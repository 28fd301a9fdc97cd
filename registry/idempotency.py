"""Idempotency keys: the same key from the same owner, within 24 h, is the same start."""

from dataclasses import dataclass
from uuid import UUID

from registry.database import Transaction
from registry.errors import IdempotencyMismatch


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """`digest`: a hash of method, path and body; another body under the key is refused."""

    value: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Remembered:
    thread_id: UUID
    run_id: UUID | None
    requirement_id: UUID | None


async def recall(tx: Transaction, owner: str, key: IdempotencyKey) -> Remembered | None:
    """What this key started before. Raises `IdempotencyMismatch` for another request.

    Holds the key until the transaction ends, so that two requests at once take turns.
    """
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(%(name)s, 0))",
        {"name": f"{owner}\n{key.value}"},
    )
    row = await tx.fetch_one(
        """
        SELECT digest, thread_id, run_id, requirement_id FROM idempotency
        WHERE owner = %(owner)s AND key = %(key)s AND created_at > now() - interval '24 hours'
        """,
        {"owner": owner, "key": key.value},
    )
    if row is None:
        return None
    if bytes(row["digest"]) != key.digest:
        raise IdempotencyMismatch(key.value)
    return Remembered(row["thread_id"], row["run_id"], row["requirement_id"])


async def remember(tx: Transaction, owner: str, key: IdempotencyKey, what: Remembered) -> None:
    await tx.execute(
        """
        INSERT INTO idempotency (owner, key, digest, thread_id, run_id, requirement_id)
        VALUES (%(owner)s, %(key)s, %(digest)s, %(thread_id)s, %(run_id)s, %(requirement_id)s)
        ON CONFLICT (owner, key) DO UPDATE SET digest = excluded.digest,
            thread_id = excluded.thread_id, run_id = excluded.run_id,
            requirement_id = excluded.requirement_id, created_at = now()
        """,
        {
            "owner": owner,
            "key": key.value,
            "digest": key.digest,
            "thread_id": what.thread_id,
            "run_id": what.run_id,
            "requirement_id": what.requirement_id,
        },
    )


async def forget_old(tx: Transaction) -> int:
    """Removes keys past their day; how many."""
    return await tx.execute(
        "DELETE FROM idempotency WHERE created_at < now() - interval '24 hours'"
    )
