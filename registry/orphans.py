"""The orphan scan: runs whose worker is gone are taken back, by the rules of the lifecycle.

What the checkpoint says (finished, at an interrupt, in the middle) is the body's to read:
a recovered run that has nothing left to do ends at once, one at an interrupt waits again.

Every state that has not ended is seen: running without a lease or with one that ran out,
and pending with a stop that its worker did not live to carry out. What is simply pending
is the claims' to find.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from registry.database import Database, Row, Transaction
from registry.events import Event, EventId, encode_json
from registry.threads import raise_epoch
from registry.timeline import record

# Whether the checkpoint leaves nothing to do: called with thread id, kind and input of a run.
Settled = Callable[[UUID, str, Mapping[str, Any]], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Orphan:
    """What became of one orphan. `event`: what its followers get, if it ended."""

    thread_id: UUID
    run_id: UUID
    status: str
    event: Event | None


async def scan(
    database: Database,
    *,
    max_attempts: int,
    recover: Literal["resume", "prompt"],
    settled: Settled,
    dead_prefix: str | None = None,
) -> Sequence[Orphan]:
    """Takes back every running run whose lease ran out.

    With `recover="prompt"` the reader decides, unless `settled` says that nothing is left to
    do: then the run is queued all the same, and its next worker only writes how it ended.

    `dead_prefix`: worker ids of this prefix are known to be dead, so their leases do not
    count; only whoever holds the lock that such a worker would hold may say so.
    """
    found: list[Orphan] = []
    while True:
        async with database.transaction() as tx:
            row = await tx.fetch_one(
                """
                SELECT r.run_id, r.thread_id, r.epoch, r.status, r.kind, r.input, r.attempt,
                       r.cancel_mode, r.cancel_by
                FROM runs r JOIN threads t USING (thread_id)
                WHERE r.status = 'running' AND (r.lease_until IS NULL OR r.lease_until < now()
                      OR starts_with(r.worker_id, %(dead)s::text))
                   OR r.status = 'pending' AND r.cancel_mode = 'stop'
                ORDER BY r.ordinal LIMIT 1 FOR UPDATE OF r, t SKIP LOCKED
                """,
                {"dead": dead_prefix},
            )
            if row is None:
                return found
            ask = recover == "prompt" and not await settled(
                row["thread_id"], row["kind"], row["input"]
            )
            found.append(await _take_back(tx, row, max_attempts, ask=ask))


async def _take_back(tx: Transaction, row: Row, max_attempts: int, *, ask: bool) -> Orphan:
    run_id, thread_id = row["run_id"], row["thread_id"]
    attempt = int(row["attempt"])
    problem: dict[str, object] | None = None
    if row["cancel_mode"] == "stop":
        status, data = "cancelled", {"by": row["cancel_by"], "reason": "stopped"}
    elif attempt >= max_attempts:
        problem = {
            "type": "/problems/attempts-exhausted",
            "title": "The run's worker died too often",
            "status": 500,
            "detail": f"its worker died {attempt} times while executing it; "
            "resume starts a fresh count",
        }
        status, data = "failed", {"problem": problem}
    elif ask:
        status, data = "interrupted", {"reason": "its worker died; resume goes on"}
    else:
        status, data = "pending", {}
    ended = status != "pending"
    await tx.execute(
        """
        UPDATE runs SET status = %(status)s, worker_id = NULL, lease_until = NULL,
            attempt = attempt + %(more)s, problem = %(problem)s::text::jsonb,
            ended_at = CASE WHEN %(ended)s THEN now() ELSE NULL END
        WHERE run_id = %(run_id)s AND epoch = %(epoch)s AND status = %(was)s
        """,
        {
            "status": status,
            "was": row["status"],
            "more": 0 if ended else 1,
            "problem": encode_json(problem).decode() if problem is not None else None,
            "ended": ended,
            "run_id": run_id,
            "epoch": row["epoch"],
        },
    )
    # Raised here too, so that the dead worker, should it wake, is fenced out from now on.
    epoch = await raise_epoch(tx, thread_id)
    event = None
    if ended:
        body = {"run_id": str(run_id), **data}
        event = Event.make(EventId(epoch, 1), f"run.{status}", body)
        await record(tx, thread_id, run_id, event)
    return Orphan(thread_id, run_id, status, event)
