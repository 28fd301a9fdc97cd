"""RunStore: the `runs` table. Every transition is one compare-and-set on the database's clock.

    pending -> running -> succeeded | failed | cancelled | waiting | interrupted
                  ^  \\-> pending   (recovered: attempt + 1; handed back: unchanged)

A transition and its events are one transaction; `registry/transitions.py` composes them.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from registry.database import Database, Row, Transaction
from registry.errors import RunActive
from registry.events import scrub
from registry.run import Interrupt, Run, Status


def run_of(row: Row) -> Run:
    return Run(
        run_id=row["run_id"],
        thread_id=row["thread_id"],
        owner=row["owner"],
        kind=row["kind"],
        status=Status(row["status"]),
        input=row["input"],
        priority=row["priority"],
        attempt=row["attempt"],
        epoch=row["epoch"],
        first_epoch=row["first_epoch"],
        worker_id=row["worker_id"],
        cancel_mode=row["cancel_mode"],
        cancel_by=row["cancel_by"],
        interrupts=tuple(
            Interrupt(item["id"], item["kind"], item["payload"]) for item in row["interrupts"]
        ),
        problem=row["problem"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


async def insert_run(
    tx: Transaction,
    *,
    run_id: UUID,
    thread_id: UUID,
    kind: str,
    input: Mapping[str, Any],  # noqa: A002 - the column's name
    priority: str,
    epoch: int,
    claim: tuple[str, float] | None,
) -> Run:
    """A new run, claimed at once where `claim` is (worker, lease in seconds).

    Raises `RunActive` where the thread has one that is pending or running.
    """
    worker_id, lease = claim if claim is not None else (None, None)
    row = await tx.fetch_one(
        """
        WITH new AS (
            INSERT INTO runs (run_id, thread_id, kind, status, priority, input, epoch,
                              first_epoch, worker_id, lease_until, started_at)
            VALUES (%(run_id)s, %(thread_id)s, %(kind)s,
                    CASE WHEN %(worker_id)s::text IS NULL THEN 'pending' ELSE 'running' END,
                    %(priority)s, %(input)s, %(epoch)s, %(epoch)s, %(worker_id)s,
                    now() + make_interval(secs => %(lease)s::float8),
                    CASE WHEN %(worker_id)s::text IS NULL THEN NULL ELSE now() END)
            ON CONFLICT (thread_id) WHERE status IN ('pending', 'running') DO NOTHING
            RETURNING *
        )
        SELECT r.*, t.owner FROM new r JOIN threads t USING (thread_id)
        """,
        {
            "run_id": run_id,
            "thread_id": thread_id,
            "kind": kind,
            "priority": priority,
            "input": Jsonb(dict(input)),
            "epoch": epoch,
            "worker_id": worker_id,
            "lease": lease,
        },
    )
    if row is None:
        raise RunActive(thread_id)
    return run_of(row)


async def latest_run(tx: Transaction | Database, thread_id: UUID) -> Run:
    """The thread's latest run; its status is the thread's."""
    row = await tx.fetch_one(
        """
        SELECT r.*, t.owner FROM runs r JOIN threads t USING (thread_id)
        WHERE r.thread_id = %(thread_id)s ORDER BY r.ordinal DESC LIMIT 1
        """,
        {"thread_id": thread_id},
    )
    if row is None:
        raise LookupError(f"thread {thread_id} has no run")
    return run_of(row)


async def was_answered(tx: Transaction, thread_id: UUID, interrupt_id: str) -> bool:
    row = await tx.fetch_one(
        """
        SELECT 1 FROM runs
        WHERE thread_id = %(thread_id)s AND kind = 'answer'
          AND input->>'interrupt_id' = %(interrupt_id)s LIMIT 1
        """,
        {"thread_id": thread_id, "interrupt_id": interrupt_id},
    )
    return row is not None


async def claim_pending(tx: Transaction, worker_id: str, lease: float) -> Run | None:
    """The oldest pending run that nobody else is claiming, under a new epoch; or None."""
    row = await tx.fetch_one(
        """
        WITH chosen AS (
            -- Both rows: a command locks the thread first and then the run.
            SELECT r.run_id, r.thread_id FROM runs r JOIN threads t USING (thread_id)
            WHERE r.status = 'pending' AND r.cancel_mode IS DISTINCT FROM 'stop'
            ORDER BY r.ordinal LIMIT 1 FOR UPDATE OF r, t SKIP LOCKED
        ), raised AS (
            UPDATE threads SET epoch = epoch + 1 FROM chosen
            WHERE threads.thread_id = chosen.thread_id
            RETURNING threads.thread_id, threads.epoch
        ), claimed AS (
            UPDATE runs SET status = 'running', worker_id = %(worker_id)s,
                epoch = raised.epoch, started_at = coalesce(started_at, now()),
                lease_until = now() + make_interval(secs => %(lease)s::float8)
            FROM raised WHERE runs.run_id = (SELECT run_id FROM chosen)
            RETURNING runs.*
        )
        SELECT r.*, t.owner FROM claimed r JOIN threads t USING (thread_id)
        """,
        {"worker_id": worker_id, "lease": lease},
    )
    return run_of(row) if row is not None else None


async def end_run(
    tx: Transaction,
    run_id: UUID,
    *,
    epoch: int,
    status: Status,
    interrupts: Sequence[Interrupt] = (),
    problem: Mapping[str, Any] | None = None,
    counters: Mapping[str, float],
) -> bool:
    """running -> an ended status. False where the run is not this epoch's any more."""
    touched = await tx.execute(
        """
        UPDATE runs SET status = %(status)s, ended_at = now(), lease_until = NULL,
            interrupts = %(interrupts)s, problem = %(problem)s, counters = %(counters)s
        WHERE run_id = %(run_id)s AND epoch = %(epoch)s AND status = 'running'
        """,
        {
            "run_id": run_id,
            "epoch": epoch,
            "status": str(status),
            "interrupts": Jsonb(scrub([item.as_dict() for item in interrupts])),
            "problem": Jsonb(scrub(dict(problem))) if problem is not None else None,
            "counters": Jsonb(dict(counters)),
        },
    )
    return touched == 1


async def cancel_idle(tx: Transaction, run_id: UUID, *, by: str) -> bool:
    """pending, waiting or interrupted -> cancelled: nobody executes it, so it ends at once."""
    touched = await tx.execute(
        """
        UPDATE runs SET status = 'cancelled', ended_at = now(), cancel_mode = 'stop',
            cancel_by = %(by)s, cancel_at = now()
        WHERE run_id = %(run_id)s AND status IN ('pending', 'waiting', 'interrupted')
        """,
        {"run_id": run_id, "by": by},
    )
    return touched == 1


async def intend_cancel(tx: Transaction, run_id: UUID, *, mode: str, by: str) -> float | None:
    """Writes the durable intent on a running run; a stop replaces a finish, never back.

    Seconds for which the owner's lease still holds, at most 0 where it lapsed; None where
    the run is not running.
    """
    row = await tx.fetch_one(
        """
        UPDATE runs SET
            cancel_mode = CASE WHEN keeps THEN cancel_mode ELSE %(mode)s END,
            cancel_by = CASE WHEN keeps THEN cancel_by ELSE %(by)s END,
            cancel_at = CASE WHEN keeps THEN cancel_at ELSE now() END
        FROM (SELECT run_id AS id, coalesce(cancel_mode IN ('stop', %(mode)s), false) AS keeps
              FROM runs WHERE run_id = %(run_id)s) AS old
        WHERE run_id = old.id AND status = 'running'
        RETURNING coalesce(extract(epoch FROM lease_until - clock_timestamp()), 0) AS held
        """,
        {"run_id": run_id, "mode": mode, "by": by},
    )
    return float(row["held"]) if row is not None else None


class RunStore:
    """Single statements on runs that need no transaction around them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(self, thread_id: UUID) -> Run:
        return await latest_run(self._database, thread_id)

    async def renew(self, worker_id: str, runs: Mapping[UUID, int], lease: float) -> list[Row]:
        """Renews these runs of the worker, each with its epoch. Rows of `run_id`,
        `cancel_mode`, `cancel_by`, `wishes` (a requirement that is not announced yet) of
        those that are still its own."""
        return await self._database.fetch(
            """
            UPDATE runs r SET lease_until = now() + make_interval(secs => %(lease)s::float8)
            FROM unnest(%(run_ids)s::uuid[], %(epochs)s::bigint[]) AS mine (run_id, epoch)
            WHERE r.run_id = mine.run_id AND r.epoch = mine.epoch
              AND r.worker_id = %(worker_id)s AND r.status = 'running'
            RETURNING r.run_id, r.cancel_mode, r.cancel_by, EXISTS (
                SELECT 1 FROM requirements q WHERE q.thread_id = r.thread_id
                  AND q.status = 'queued' AND NOT q.announced) AS wishes
            """,
            {
                "worker_id": worker_id,
                "run_ids": list(runs),
                "epochs": list(runs.values()),
                "lease": lease,
            },
            limit=lease / 6,  # half a period: rather try again than hang
        )

    async def next_lapse(self, worker_id: str) -> float | None:
        """Seconds until the first lease of another worker ends, if it is not renewed."""
        row = await self._database.fetch_one(
            """
            SELECT extract(epoch FROM min(lease_until) - clock_timestamp()) AS seconds
            FROM runs WHERE status = 'running' AND worker_id <> %(worker_id)s
            """,
            {"worker_id": worker_id},
        )
        return float(row["seconds"]) if row is not None and row["seconds"] is not None else None

    async def hand_back(self, run_id: UUID, epoch: int) -> bool:
        """running -> pending, attempt unchanged: another worker may take it at once.

        False where the run is not this epoch's any more, or a stop was asked for: a run
        that is to be stopped is never handed on.
        """
        touched = await self._database.execute(
            """
            UPDATE runs SET status = 'pending', worker_id = NULL, lease_until = NULL
            WHERE run_id = %(run_id)s AND epoch = %(epoch)s AND status = 'running'
              AND cancel_mode IS DISTINCT FROM 'stop'
            """,
            {"run_id": run_id, "epoch": epoch},
        )
        return touched == 1

    async def pending_before(self, run_id: UUID) -> int:
        """How many pending runs are ahead of this one; 0 means it is next."""
        row = await self._database.fetch_one(
            """
            SELECT count(*) AS ahead FROM runs
            WHERE status = 'pending'
              AND ordinal < (SELECT ordinal FROM runs WHERE run_id = %(run_id)s)
            """,
            {"run_id": run_id},
        )
        return int(row["ahead"]) if row is not None else 0

    async def counters(self, thread_id: UUID) -> dict[str, float]:
        """Sums over the thread's runs that have ended."""
        rows = await self._database.fetch(
            """
            SELECT key, sum(value::float8) AS total
            FROM runs, jsonb_each_text(counters) WHERE thread_id = %(id)s GROUP BY key
            """,
            {"id": thread_id},
        )
        return {row["key"]: float(row["total"]) for row in rows}

    async def counts(self) -> dict[str, int]:
        """Runs per status that is not ended."""
        rows = await self._database.fetch(
            """
            SELECT status, count(*) AS n FROM runs
            WHERE status IN ('pending', 'running') GROUP BY status
            """
        )
        return {row["status"]: int(row["n"]) for row in rows}
