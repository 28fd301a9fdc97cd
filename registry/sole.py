"""SoleWorker: without Redis one serving worker holds a session lock on the database.

The lock lives as long as its connection, so a crash frees it. A connection that breaks is
opened again; if another worker has taken the lock meanwhile, `held` says so.
"""

import asyncio
from typing import Final

import psycopg
import structlog
from psycopg import AsyncConnection

from registry.deadline import Deadline
from registry.errors import StartRefused, StoreDown
from registry.settle import settle

LOCK: Final = 7_221_903_442  # any constant; not the migrations' one
LIMIT: Final = 10.0  # seconds in which the server must answer
PATIENCE: Final = 3.0  # seconds: the server may still be noticing that the last holder died

log = structlog.get_logger(__name__)


class SoleWorker:
    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: AsyncConnection | None = None

    async def take(self) -> None:
        """Raises `StartRefused` while another serving worker is alive."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE
        while not await settle(self._try()):
            if loop.time() > deadline:
                raise StartRefused(
                    "another worker already serves this database, and without Redis there "
                    "can be only one: stop it first"
                )
            await asyncio.sleep(0.1)

    async def _try(self) -> bool:
        if self._connection is None or self._connection.closed:
            self._connection = await AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=10
            )
        cursor = await self._connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,))
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def keep(self) -> None:
        """One pass of the loop that watches the lock; raises `StoreDown` while it is not held."""
        try:
            if self._connection is not None and not self._connection.closed:
                with Deadline(LIMIT).on(self._connection):
                    await settle(self._ping(self._connection))
                return
            if not await settle(self._try()):
                raise StoreDown("another worker has taken over this database")
            log.warning("sole_worker_lock_taken_again")
        except psycopg.OperationalError as error:
            raise StoreDown("the connection that holds the worker's lock is down") from error

    async def _ping(self, connection: AsyncConnection) -> None:
        await connection.execute("SELECT 1")

    async def release(self) -> None:
        if self._connection is not None:
            await settle(self._connection.close())
            self._connection = None
