"""The whole schema of a database: our migrations, then the checkpoint saver's own.

The saver builds its indexes concurrently. A build that was cut off leaves an invalid index,
which the next set-up would take for a good one and note as done: so it is rebuilt first.
"""

import asyncio
from typing import Final, LiteralString, cast

import psycopg
import structlog
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from registry.migrate import migrate

PAUSE: Final = 0.2  # without an open statement, which would hold a build up
INVALID: Final = """
SELECT i.indexrelid::regclass::text,
       c.relname ~ '_cc(new|old)[0-9]*$',
       EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid AND i.indrelid IN (to_regclass('checkpoints'),
    to_regclass('checkpoint_blobs'), to_regclass('checkpoint_writes'))
"""

log = structlog.get_logger(__name__)


async def prepare_schema(url: str) -> list[str]:
    """Brings the database up to date; names of the migrations it applied. Safe for any number
    of processes at the same instant, through a pooler too. Raises `StartRefused`."""
    return await migrate(url, also=_prepare_saver)


async def _prepare_saver(connection: AsyncConnection) -> None:
    await mend(connection)
    # The saver's cursors bring their own kind of rows.
    await AsyncPostgresSaver(cast("AsyncConnection[DictRow]", connection)).setup()
    await mend(connection)


async def mend(connection: AsyncConnection) -> None:
    """Returns when no index of the saver's tables is invalid."""
    while True:
        cursor = await connection.execute(INVALID)
        rows = await cursor.fetchall()
        if not rows:
            return
        for name, leftover, building in rows:
            if building:  # by a process that was overtaken; its index may still get good
                continue
            log.warning("index_rebuilt", index=name)
            # A rebuild that was cut off has left a second index beside the first.
            verb = "DROP INDEX CONCURRENTLY IF EXISTS" if leftover else "REINDEX INDEX CONCURRENTLY"
            try:
                await connection.execute(cast("LiteralString", f"{verb} {name}"))
            except (psycopg.errors.DeadlockDetected, psycopg.errors.UndefinedTable):
                continue  # somebody else is at it
        await asyncio.sleep(PAUSE)
