"""One way to the database: a pool, three statements, a transaction; all safe to cancel.

1. Whoever gets a connection gets a live one: the dead are found without a round trip.
2. Every call ends: within its `limit` by the client's own clock, whatever the server and the
   network do, and within seconds once its caller was cancelled (`registry.deadline`).
3. A call that was begun is settled: a cancel goes on when it has ended. A wait for a
   connection is none, and ends at once.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Final, LiteralString, cast
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from registry.deadline import GRACE, Deadline
from registry.errors import StoreDown
from registry.pool import Connection, Limits, make_pool, readable
from registry.settle import outlast, settle

Row = dict[str, Any]
Params = Mapping[str, Any] | None

POOL_SECONDS: Final = 10.0  # for a connection
CHECK_SECONDS: Final = 2.0  # for the answer of one that may be dead
IDLE_SECONDS: Final = 60.0  # without use, after which a connection is asked first
MARGIN: Final = 3.0  # seconds that the client waits longer than the server works

LOST: Final = (
    PoolTimeout,
    PoolClosed,
    TooManyRequests,
    psycopg.OperationalError,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.TransactionTimeout,
    psycopg.errors.FeatureNotSupported,  # a plan of before a migration
)


class Transaction:
    """Statements inside one transaction. Parameters are named: `%(name)s`."""

    def __init__(self, connection: Connection, each: float, whole: float | None) -> None:
        """Limits in seconds: of `each` statement, and of all together."""
        self._connection = connection
        self._each = each
        self._whole = Deadline(whole) if whole is not None else None

    async def fetch(self, sql: str, params: Params = None) -> list[Row]:
        return await self.run(_run, sql, params)

    async def fetch_one(self, sql: str, params: Params = None) -> Row | None:
        rows = await self.fetch(sql, params)
        return rows[0] if rows else None

    async def execute(self, sql: str, params: Params = None) -> int:
        """Number of rows touched."""
        return await self.run(_touch, sql, params)

    async def run(self, call: Any, sql: str, params: Params) -> Any:
        left = self._whole.left if self._whole is not None else self._each
        deadline = Deadline(min(self._each, left))

        async def bounded() -> Any:
            try:
                with deadline.on(self._connection):
                    return await call(self._connection, sql, params)
            except psycopg.errors.FeatureNotSupported:
                await self._connection.close()
                raise

        try:
            return await settle(bounded(), deadline.hurry)
        except LOST as error:
            raise down(error, deadline) from error


class Database:
    """A pool of autocommit connections. Raises `StoreDown` when the database cannot be
    reached, or does not answer in time. `limit` of a call: its seconds in all."""

    def __init__(
        self, url: str, *, size: int = 10, pooler: bool = False, limits: Limits | None = None
    ) -> None:
        self.url = url
        self.pooler = pooler
        self.limits = limits or Limits()
        self.limit = self.limits.statement + MARGIN
        self.pool = make_pool(url, size=size, pooler=pooler, limits=self.limits)
        self._used: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()

    async def open(self) -> None:
        try:
            await self.pool.open(wait=True, timeout=15)
        except PoolTimeout as error:
            await self.pool.close()
            raise StoreDown(f"no connection within 15 s: {error}") from None

    async def close(self) -> None:
        await self.pool.close()

    async def fetch(
        self, sql: str, params: Params = None, *, limit: float | None = None
    ) -> list[Row]:
        return await self._once(_run, sql, params, limit)

    async def fetch_one(
        self, sql: str, params: Params = None, *, limit: float | None = None
    ) -> Row | None:
        rows = await self.fetch(sql, params, limit=limit)
        return rows[0] if rows else None

    async def execute(self, sql: str, params: Params = None, *, limit: float | None = None) -> int:
        """Number of rows touched."""
        return await self._once(_touch, sql, params, limit)

    async def _once(self, call: Any, sql: str, params: Params, limit: float | None) -> Any:
        deadline = Deadline(self.limit if limit is None else limit)

        async def alone() -> Any:
            async with self.connection(deadline) as connection:
                return await call(connection, sql, params)

        return await settle(alone(), deadline.hurry)

    @asynccontextmanager
    async def connection(self, deadline: Deadline) -> AsyncGenerator[Connection]:
        """A live connection for as long as the deadline allows. Only for what runs inside
        `settle`: a cancel in the block would leave the connection half way."""
        try:
            connection = await self._checkout(deadline)
            try:
                with deadline.on(connection):
                    yield connection
            except psycopg.errors.FeatureNotSupported:
                await connection.close()  # with all its plans
                raise
            finally:
                await self._give_back(connection)
        except LOST as error:
            raise down(error, deadline) from error

    @asynccontextmanager
    async def transaction(self, *, limit: float | None = None) -> AsyncGenerator[Transaction]:
        """Commits at the end of the block, rolls back on any exception, a cancel included."""
        connection = await self._take(Deadline(self.limit if limit is None else limit))
        try:
            tx = Transaction(connection, self.limit, limit)
            try:
                version = connection.info.server_version
                begin = self.limits.begin(version) if self.pooler else "BEGIN"
                await tx.run(_command, begin, None)
                yield tx
            except BaseException:
                await settle(rollback(connection))
                raise
            await tx.run(_command, "COMMIT", None)
        except LOST as error:
            raise down(error) from error
        finally:
            await settle(self._give_back(connection))

    async def _take(self, deadline: Deadline) -> Connection:
        # Not `settle`: a connection that arrives after the cancel must go back.
        taking = asyncio.get_running_loop().create_task(self._checkout(deadline))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            deadline.hurry()
            await outlast(taking)
            if not taking.cancelled() and taking.exception() is None:
                await settle(self._give_back(taking.result()))
            raise
        except LOST as error:
            raise down(error, deadline) from error

    async def _checkout(self, deadline: Deadline) -> Connection:
        until = monotonic() + POOL_SECONDS
        while True:
            with deadline.waiting():
                left = min(until - monotonic(), deadline.left)
                connection = await self.pool.getconn(max(left, 0.001))
            if await self._lives(connection, deadline):
                return connection
            await connection.close()
            await self.pool.putconn(connection)

    async def _lives(self, connection: Connection, deadline: Deadline) -> bool:
        if connection.closed:
            return False
        idle = monotonic() - self._used.get(connection, monotonic())
        if idle < IDLE_SECONDS and not readable(connection):
            return True
        try:
            with Deadline(min(CHECK_SECONDS, deadline.left)).on(connection):
                await connection.execute("")
        except psycopg.Error:
            return False
        return True

    async def _give_back(self, connection: Connection) -> None:
        # The pool would roll back, and has no limit for that.
        if connection.pgconn.transaction_status != TransactionStatus.IDLE:
            await connection.close()
        self._used[connection] = monotonic()
        await self.pool.putconn(connection)


def down(error: Exception, deadline: Deadline | None = None) -> StoreDown:
    if deadline is not None and deadline.over:
        return StoreDown("no answer within the time limit")
    return StoreDown(" ".join(str(error).split())[:200] or type(error).__name__)


async def _run(connection: Connection, sql: str, params: Params) -> list[Row]:
    cursor = await connection.execute(cast("LiteralString", sql), params)
    return await cursor.fetchall() if cursor.description else []


async def _touch(connection: Connection, sql: str, params: Params) -> int:
    cursor = await connection.execute(cast("LiteralString", sql), params)
    return cursor.rowcount


async def _command(connection: Connection, sql: LiteralString, params: Params) -> None:
    await connection.execute(sql, params)


async def rollback(connection: Connection) -> None:
    """Or closes the connection. In a few seconds at most; only inside `settle`."""
    # A broken connection rolls back by itself; the pool drops it when it comes back.
    try:
        if not connection.closed:
            with Deadline(GRACE).on(connection):
                await connection.rollback()
    except psycopg.Error:
        await connection.close()
