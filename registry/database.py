"""One way to the database: a pool, three statements, a transaction; all safe to cancel."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, LiteralString, cast

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from registry.errors import StoreDown
from registry.settle import settle

Row = dict[str, Any]
Params = Mapping[str, Any] | None
Connection = AsyncConnection[DictRow]


class Transaction:
    """Statements inside one transaction. Parameters are named: `%(name)s`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def fetch(self, sql: str, params: Params = None) -> list[Row]:
        return await settle(_run(self._connection, sql, params))

    async def fetch_one(self, sql: str, params: Params = None) -> Row | None:
        rows = await self.fetch(sql, params)
        return rows[0] if rows else None

    async def execute(self, sql: str, params: Params = None) -> int:
        """Number of rows touched."""
        return await settle(_touch(self._connection, sql, params))


class Database:
    """A pool of autocommit connections. Raises `StoreDown` when none can be had in time."""

    def __init__(self, url: str, *, size: int = 10, pooler: bool = False) -> None:
        # Behind pgbouncer in transaction mode a prepared statement may be on another backend.
        kwargs: dict[str, Any] = {
            "autocommit": True,
            "row_factory": dict_row,
            "prepare_threshold": None if pooler else 5,
        }
        if not pooler:
            kwargs["options"] = "-c statement_timeout=30s"
        self.url = url
        self.pooler = pooler
        self.pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url, kwargs=kwargs, min_size=min(2, size), max_size=size, timeout=10, open=False
        )

    async def open(self) -> None:
        try:
            await self.pool.open(wait=True, timeout=15)
        except PoolTimeout as error:
            await self.pool.close()
            raise StoreDown(f"no connection within 15 s: {error}") from None

    async def close(self) -> None:
        await self.pool.close()

    async def fetch(self, sql: str, params: Params = None) -> list[Row]:
        return await settle(self._once(_run, sql, params))

    async def fetch_one(self, sql: str, params: Params = None) -> Row | None:
        rows = await self.fetch(sql, params)
        return rows[0] if rows else None

    async def execute(self, sql: str, params: Params = None) -> int:
        """Number of rows touched."""
        return await settle(self._once(_touch, sql, params))

    async def _once(self, call: Any, sql: str, params: Params) -> Any:
        try:
            async with self.pool.connection() as connection:
                return await call(connection, sql, params)
        except (PoolTimeout, PoolClosed, TooManyRequests, psycopg.OperationalError) as error:
            raise _down(error) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction]:
        """Commits at the end of the block, rolls back on any exception, a cancel included."""
        connection = await self._acquire()
        try:
            try:
                await settle(_command(connection, "BEGIN"))
                yield Transaction(connection)
            except BaseException:
                await settle(_rollback(connection))
                raise
            await settle(_command(connection, "COMMIT"))
        except psycopg.OperationalError as error:
            raise _down(error) from error
        finally:
            await settle(self.pool.putconn(connection))

    async def _acquire(self) -> Connection:
        # Not `settle`: a connection that arrives after the cancel must go back at once.
        getting = asyncio.get_running_loop().create_task(self.pool.getconn())
        try:
            return await asyncio.shield(getting)
        except asyncio.CancelledError:
            await settle(self._give_back(getting))
            raise
        except (PoolTimeout, PoolClosed, TooManyRequests, psycopg.OperationalError) as error:
            raise _down(error) from error

    async def _give_back(self, getting: asyncio.Task[Connection]) -> None:
        await asyncio.wait({getting})
        if not getting.cancelled() and getting.exception() is None:
            await self.pool.putconn(getting.result())


def _down(error: Exception) -> StoreDown:
    return StoreDown(" ".join(str(error).split())[:200] or type(error).__name__)


async def _run(connection: Connection, sql: str, params: Params) -> list[Row]:
    cursor = await connection.execute(cast("LiteralString", sql), params)
    return await cursor.fetchall() if cursor.description else []


async def _touch(connection: Connection, sql: str, params: Params) -> int:
    cursor = await connection.execute(cast("LiteralString", sql), params)
    return cursor.rowcount


async def _command(connection: Connection, sql: LiteralString) -> None:
    await connection.execute(sql)


async def _rollback(connection: Connection) -> None:
    # A broken connection rolls back by itself; the pool drops it when it comes back.
    if not connection.closed:
        try:
            await connection.rollback()
        except psycopg.OperationalError:
            await connection.close()
