"""After every case: nothing runs, nothing is held, nothing complains, and each run has ended
exactly once."""

import asyncio
import re
from typing import Any, Final

import httpx
import psycopg
from psycopg.rows import dict_row
from redis.asyncio import Redis

from registry.events import ENDING
from tests.fleet.fleet import Fleet, Member

SECONDS: Final = 20.0  # for all to come to rest
COMPLAINTS: Final = (
    "Traceback",
    "Task was destroyed",
    "never retrieved",
    "pool is closed",
    "Deserializing unregistered type",
)
GAUGE: Final = re.compile(r'^(\w+)(?:\{\w+="([^"]*)"\})? ([-+.\de]+)$', re.MULTILINE)
DAY: Final = 86_400


async def quiet(fleet: Fleet, *, seconds: float = SECONDS) -> None:
    """Comes back once the fleet is at rest; AssertionError says what is not."""
    deadline = asyncio.get_running_loop().time() + seconds
    while unrest := [*await _rows(fleet), *await _workers(fleet)]:
        assert asyncio.get_running_loop().time() < deadline, unrest
        await asyncio.sleep(0.1)
    assert not (wrong := await _endings(fleet)), wrong
    assert not (lasting := await _keys(fleet)), lasting
    assert not (said := complaints(fleet)), said


async def query(fleet: Fleet, sql: str, *values: object) -> list[dict[str, Any]]:
    connection = await psycopg.AsyncConnection.connect(fleet.database_url, autocommit=True)
    async with connection, connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(sql.encode(), values or None)
        return await cursor.fetchall()


async def _rows(fleet: Fleet) -> list[str]:
    live = await query(
        fleet,
        """
        SELECT status, cancel_mode, worker_id, attempt, lease_until - now() AS lease FROM runs
        WHERE status IN ('pending', 'running') OR lease_until IS NOT NULL
        """,
    )
    idle = await query(
        fleet,
        """
        SELECT query FROM pg_stat_activity WHERE datname = current_database()
          AND state LIKE 'idle in transaction%'
        """,
    )
    return [*(f"run: {row}" for row in live), *(f"in transaction: {row['query']}" for row in idle)]


async def _workers(fleet: Fleet) -> list[str]:
    found: list[str] = []
    for place, member in enumerate(fleet.members):
        if member.alive and not member.frozen:
            found += [f"worker {place}: {what}" for what in await _worker(member)]
    return found


async def _worker(member: Member) -> list[str]:
    gauges = await gauges_of(member)
    pool = gauges["research_pool"]
    found = [
        f"{name} is {gauges[name]['']:g}"
        for name in ("research_slots_used", "research_streams")
        if gauges[name][""]
    ]
    if pool["pool_available"] != pool["pool_size"] or pool["requests_waiting"]:
        found.append(f"pool {pool}")
    return found


async def gauges_of(member: Member) -> dict[str, dict[str, float]]:
    """All gauges of a worker, by name and label."""
    try:
        async with member.client() as client:
            text = (await client.get("/metrics")).raise_for_status().text
    except httpx.HTTPError as error:
        return {
            "research_pool": {"pool_available": 0, "pool_size": -1, "requests_waiting": 0},
            "research_slots_used": {"": 0},
            "research_streams": {"": 0},
            f"no answer: {error!r}": {},
        }
    out: dict[str, dict[str, float]] = {}
    for name, label, value in GAUGE.findall(text):
        out.setdefault(name, {})[label] = float(value)
    return out


async def _endings(fleet: Fleet) -> list[str]:
    """Runs that did not end exactly once; asking again and then a cancel counts as once."""
    rows = await query(
        fleet,
        """
        SELECT r.run_id, r.status, coalesce(array_agg(e.name ORDER BY e.epoch, e.seq)
               FILTER (WHERE e.name = ANY(%s)), '{}') AS endings
        FROM runs r LEFT JOIN timeline e USING (thread_id, run_id)
        GROUP BY r.run_id, r.status
        """,
        sorted(ENDING),
    )
    wrong: list[str] = []
    for row in rows:
        endings = [name.removeprefix("run.") for name in row["endings"]]
        once = endings == [row["status"]]
        stopped = endings in (["waiting", "cancelled"], ["interrupted", "cancelled"])
        if not once and not (stopped and row["status"] == "cancelled"):
            wrong.append(f"{row['run_id']} is {row['status']} and ended {endings}")
    return wrong


async def _keys(fleet: Fleet) -> list[str]:
    redis: Any = Redis.from_url(fleet.redis.url)
    try:
        names = [key async for key in redis.scan_iter(count=500)]
        lives = {key.decode(): await redis.ttl(key) for key in names}
    finally:
        await redis.aclose()
    # -2: it ended between the two questions.
    return [
        f"key {key} lives for {life} s"
        for key, life in lives.items()
        if not key.startswith(fleet.prefix) or not (life == -2 or 0 <= life <= DAY)
    ]


def complaints(fleet: Fleet) -> list[str]:
    """Lines of the logs, since the last look, that no log of ours should have."""
    found: list[str] = []
    for place, member in enumerate(fleet.members):
        lines = member.fresh_log().splitlines()
        for number, line in enumerate(lines):
            if any(mark in line for mark in COMPLAINTS):
                near = "\n".join(lines[max(0, number - 3) : number + 25])
                found.append(f"worker {place}:\n{near}")
                break
    return found
