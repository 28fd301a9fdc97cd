"""F24: the scan sees an orphan in every state that has not ended, and no run that lives."""

from typing import Final

from tests.fleet.acts import begun, runs_of
from tests.fleet.fleet import LEASE, SCAN, Fleet
from tests.fleet.quiet import query
from tests.reader import wait_for

# What a crash may leave: status, lease, cancel intent; and what becomes of it.
LEFT: Final = {
    "queued": ("'pending', NULL, NULL, NULL", "succeeded"),
    "without a lease": ("'running', 'serve-gone', NULL, NULL", "succeeded"),
    "lease expired": ("'running', 'serve-gone', now() - interval '1 h', NULL", "succeeded"),
    "cancelling": ("'running', 'serve-gone', now() - interval '1 s', 'stop'", "cancelled"),
    "cancelling, no lease": ("'running', 'serve-gone', NULL, 'stop'", "cancelled"),
    "queued and cancelled": ("'pending', NULL, NULL, 'stop'", "cancelled"),
}


async def left_behind(fleet: Fleet, like: str, state: str) -> str:
    """A thread as `like`, whose run is in that state by no fault of ours."""
    rows = await query(
        fleet,
        f"""
        WITH thread AS (
            INSERT INTO threads (thread_id, owner, title, question, input, epoch)
            SELECT gen_random_uuid(), owner, title, question, input, 1 FROM threads
            WHERE thread_id = %s RETURNING *
        ), run AS (
            INSERT INTO runs (run_id, thread_id, kind, input, epoch, first_epoch,
                              status, worker_id, lease_until, cancel_mode)
            SELECT gen_random_uuid(), thread_id, 'start', input, 1, 1, {state} FROM thread
            RETURNING *
        )
        INSERT INTO timeline (thread_id, epoch, seq, run_id, name, data)
        SELECT thread_id, 1, 1, run_id, 'run.queued', '{{}}' FROM run RETURNING thread_id
        """,
        like,
    )
    return str(rows[0]["thread_id"])


async def test_f24_every_orphan_is_found_and_a_live_run_is_not(fleet: Fleet) -> None:
    async with fleet[0].client() as a, fleet[1].client() as b:
        live = await begun(b)
        before = (await runs_of(fleet, live))[0]
        made = {name: await left_behind(fleet, live, state) for name, (state, _) in LEFT.items()}
        fleet[0].kill()
        fleet[0].restart()
    async with fleet[0].client() as a:
        for name, thread_id in made.items():
            wanted = LEFT[name][1]
            # A run that goes on takes some seconds for itself.
            seconds = LEASE + SCAN + (30 if wanted == "succeeded" else 1)
            await wait_for(a, thread_id, wanted, seconds=seconds)
        await wait_for(a, live, "succeeded", seconds=30)
        after = (await runs_of(fleet, live))[0]
        for column in ("epoch", "attempt", "worker_id"):
            assert after[column] == before[column]
        # Their threads take the next request.
        told = await a.post(f"/api/threads/{made['cancelling']}/resume", json={})
        assert told.status_code == 202, told.text
        await wait_for(a, made["cancelling"], "succeeded", "waiting", seconds=30)
