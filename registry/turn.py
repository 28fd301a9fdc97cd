"""Turn: whose turn it is to change the schema, as a row with an expiry.

1. No advisory lock: one of a session is lost on a pooler, one of a transaction cannot span
   `CREATE INDEX CONCURRENTLY`, and whoever waits inside a lock statement holds a snapshot that
   this waits for in turn. The row is tried by compare-and-set, with pauses in between.
2. It is renewed on a connection of its own for as long as the work takes, and says then what
   the work waits for. When the holder dies it expires, and the next one goes on.
3. A holder that was overtaken while it stood still is stopped, and `check` in the transaction
   of a change makes sure that it has changed nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar
from uuid import uuid4

import psycopg
import structlog
from psycopg import AsyncConnection

from registry.deadline import Deadline
from registry.errors import StartRefused

EXPIRY: Final = 10.0  # seconds after which a dead holder's turn is over
RENEWAL: Final = 2.5
ANSWER: Final = 10.0  # for the server's word on whose turn it is
PAUSE: Final = 0.1
SAY_AFTER: Final = 3.0  # seconds of waiting that need no explanation
TABLE: Final = """
CREATE TABLE IF NOT EXISTS schema_turn (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    holder text NOT NULL, since timestamptz NOT NULL DEFAULT now(), until timestamptz NOT NULL)
"""
TAKE: Final = """
INSERT INTO schema_turn AS t (holder, until) VALUES (%s, now() + make_interval(secs => %s))
ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, since = now(), until = excluded.until
WHERE t.until < now()
"""
RENEW: Final = """
UPDATE schema_turn SET until = now() + make_interval(secs => %s) WHERE holder = %s
"""
IN_THE_WAY: Final = """
SELECT DISTINCT unnest(pg_blocking_pids(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE '% CONCURRENTLY %'
"""

MADE_MEANWHILE: Final = (
    psycopg.errors.UniqueViolation,
    psycopg.errors.DuplicateTable,
    psycopg.errors.DuplicateObject,
)

T = TypeVar("T")
Connect = Callable[[], Awaitable[AsyncConnection]]

log = structlog.get_logger(__name__)


class TurnLost(Exception):
    """It expired, and another process has taken it."""


class Turn:
    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._holder = uuid4().hex

    async def take(self, connection: AsyncConnection, patience: float) -> None:
        """Raises `StartRefused` where it is another's for longer than `patience` seconds."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        told = False
        await _make_table(connection)
        while True:
            with Deadline(ANSWER).on(connection):
                cursor = await connection.execute(TAKE, (self._holder, EXPIRY))
            if cursor.rowcount == 1:
                return
            waited = loop.time() - began
            if waited > patience:
                raise StartRefused(
                    f"another process has been migrating this database for {patience:.0f} s: "
                    "wait for it, or end it"
                )
            if waited > SAY_AFTER and not told:
                told = True
                log.warning("schema_changed_by_another_process", patience=patience)
            await asyncio.sleep(PAUSE)

    async def during(self, work: Callable[[], Awaitable[T]]) -> T:
        """What `work` returns, done while the turn is renewed. Raises `TurnLost`, and gives
        the turn back in all other cases."""
        try:
            async with asyncio.TaskGroup() as group:
                keeping = group.create_task(self._keep())
                try:
                    return await work()
                finally:
                    keeping.cancel()
        except BaseExceptionGroup as group:
            # One of the two failed; the other one was only cancelled.
            raise group.exceptions[0] from None

    async def check(self, connection: AsyncConnection) -> None:
        """Last in the transaction of a change: holds the turn until it is committed."""
        cursor = await connection.execute(RENEW, (EXPIRY, self._holder))
        if cursor.rowcount != 1:
            raise TurnLost

    async def give_back(self, connection: AsyncConnection) -> None:
        await connection.execute("DELETE FROM schema_turn WHERE holder = %s", (self._holder,))

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL)
            try:
                async with await self._connect() as connection:
                    with Deadline(ANSWER).on(connection):
                        await self.check(connection)
                        cursor = await connection.execute(IN_THE_WAY)
                    if pids := [row[0] for row in await cursor.fetchall()]:
                        log.warning("schema_waits_for_transactions", backends=pids)
            except psycopg.OperationalError as error:
                log.warning("schema_turn_not_renewed", reason=str(error))


async def _make_table(connection: AsyncConnection) -> None:
    """`IF NOT EXISTS` does not help those who make it at the same instant."""
    while True:
        try:
            with Deadline(ANSWER).on(connection):
                await connection.execute(TABLE)
        except MADE_MEANWHILE:
            await asyncio.sleep(PAUSE)
        else:
            return


@asynccontextmanager
async def holding(turn: Turn, connection: AsyncConnection, patience: float) -> AsyncGenerator[None]:
    """The turn, from when it can be had to the end of the block."""
    await turn.take(connection, patience)
    try:
        yield
    finally:
        if not connection.closed:
            await turn.give_back(connection)
