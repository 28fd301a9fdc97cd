"""What must hold of all threads after every step, whatever the steps were.

`World` looks at the tables alone, compares with what it saw one step before, and knows no
more of the registry than the contract says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from registry.database import Database, Row

ACTIVE: Final = frozenset({"pending", "running"})
ASKS: Final = frozenset({"waiting", "interrupted"})  # ended, and a cancel still changes it
FINAL: Final = frozenset({"succeeded", "failed", "cancelled"})
ENDINGS: Final = frozenset(f"run.{name}" for name in ASKS | FINAL)

Id = tuple[int, int]


@dataclass
class Look:
    """All tables of the lifecycle at one moment. `timeline`: per thread, in order."""

    runs: dict[UUID, Row]
    epochs: dict[UUID, int]
    timeline: dict[UUID, list[tuple[Id, UUID | None, str]]]

    def latest(self, thread_id: UUID) -> Row:
        return max(
            (run for run in self.runs.values() if run["thread_id"] == thread_id),
            key=lambda run: run["ordinal"],
        )

    def endings(self, run: Row) -> list[str]:
        events = self.timeline[run["thread_id"]]
        return [name for _, owner, name in events if owner == run["run_id"] and name in ENDINGS]


async def look(database: Database) -> Look:
    runs = await database.fetch(
        "SELECT *, lease_until > now() AS leased FROM runs ORDER BY ordinal"
    )
    threads = await database.fetch("SELECT thread_id, epoch FROM threads")
    events = await database.fetch(
        "SELECT thread_id, epoch, seq, run_id, name FROM timeline ORDER BY epoch, seq"
    )
    timeline: dict[UUID, list[tuple[Id, UUID | None, str]]] = {
        row["thread_id"]: [] for row in threads
    }
    for row in events:
        entry = ((row["epoch"], row["seq"]), row["run_id"], row["name"])
        timeline[row["thread_id"]].append(entry)
    return Look(
        {run["run_id"]: run for run in runs},
        {row["thread_id"]: row["epoch"] for row in threads},
        timeline,
    )


@dataclass
class World:
    database: Database
    before: Look = field(default_factory=lambda: Look({}, {}, {}))

    async def check(self, *, commanded: Sequence[UUID] = ()) -> Look:
        """One step is over; `commanded`: threads on which a person has just asked for a run."""
        now = await look(self.database)
        for run in now.runs.values():
            self._check_run(now, run)
            self._check_change(self.before.runs.get(run["run_id"]), run)
        for thread_id in now.epochs:
            self._check_thread(now, thread_id)
            self._check_new_runs(now, thread_id, asked=thread_id in commanded)
        self.before = now
        return now

    def _check_run(self, now: Look, run: Row) -> None:
        status = run["status"]
        if status == "pending":
            # The claims find it, or the scan where a stop was asked for; nobody owns it.
            assert run["worker_id"] is None, run
            assert run["lease_until"] is None, run
        if status == "running":
            # Its owner renews, or the scan finds it. An epoch that was raised above it would
            # leave it renewed for ever and never ended.
            assert run["worker_id"] is not None, run
            assert run["epoch"] == now.epochs[run["thread_id"]], run
        # A stop may come too late for a success; nothing else may become of the run.
        assert run["cancel_mode"] != "stop" or status in {"running", "cancelled", "succeeded"}, run
        assert (run["ended_at"] is None) == (status in ACTIVE), run
        assert (status == "failed") == (run["problem"] is not None), run
        endings = now.endings(run)
        if status in ACTIVE:
            assert not endings, (run, endings)
            return
        assert endings[-1] == f"run.{status}", (run, endings)
        asked = [name for name in endings[:-1] if name.removeprefix("run.") in ASKS]
        assert len(endings) == 1 or (len(endings) == 2 and asked and status == "cancelled"), (
            run,
            endings,
        )

    def _check_change(self, old: Row | None, run: Row) -> None:
        if old is None:
            assert run["status"] in ACTIVE, run
            return
        was, status = old["status"], run["status"]
        if was in FINAL:
            assert status == was, (old, run)
        if was in ASKS:
            assert status in {was, "cancelled"}, (old, run)
        assert run["epoch"] >= old["epoch"], (old, run)
        assert run["attempt"] in {old["attempt"], old["attempt"] + 1}, (old, run)
        if run["attempt"] > old["attempt"]:
            assert (was, status) == ("running", "pending"), (old, run)
        if was == "pending" and status == "running":
            assert run["epoch"] > old["epoch"], (old, run)
        if old["cancel_mode"] == "stop":
            assert run["cancel_mode"] == "stop", (old, run)

    def _check_thread(self, now: Look, thread_id: UUID) -> None:
        assert now.epochs[thread_id] >= self.before.epochs.get(thread_id, 0), thread_id
        mine = [run for run in now.runs.values() if run["thread_id"] == thread_id]
        assert sum(run["status"] in ACTIVE for run in mine) <= 1, mine
        assert all(run["status"] not in ACTIVE for run in mine[:-1]), mine
        ids = [entry[0] for entry in now.timeline[thread_id]]
        known = {entry[0] for entry in self.before.timeline.get(thread_id, [])}
        fresh = [at for at in ids if at not in known]
        assert len(known) + len(fresh) == len(ids), "an event was removed"
        assert not known or not fresh or min(fresh) > max(known), (known, fresh)
        assert not ids or ids[-1][0] <= now.epochs[thread_id], ids

    def _check_new_runs(self, now: Look, thread_id: UUID, *, asked: bool) -> None:
        """A run begins because a person asked for one, or as the successor of a success that
        nobody had asked to stop."""
        mine = [run for run in now.runs.values() if run["thread_id"] == thread_id]
        for earlier, run in zip([None, *mine], mine, strict=False):
            if run["run_id"] in self.before.runs or asked:
                continue
            assert earlier is not None, run
            assert earlier["status"] == "succeeded", (earlier, run)
            assert run["kind"] == "modify", (earlier, run)
            assert earlier["cancel_mode"] != "stop", (earlier, run)


async def everything(database: Database, thread_id: UUID) -> list[Any]:
    """All that is written of a thread, to see that nothing was changed."""
    rows = await database.fetch(
        """
        SELECT to_jsonb(t) AS row FROM threads t WHERE thread_id = %(id)s
        UNION ALL SELECT to_jsonb(r) FROM runs r WHERE thread_id = %(id)s
        UNION ALL SELECT to_jsonb(e) FROM timeline e WHERE thread_id = %(id)s
        UNION ALL SELECT to_jsonb(q) FROM requirements q WHERE thread_id = %(id)s
        """,
        {"id": thread_id},
    )
    return sorted(repr(row["row"]) for row in rows)
