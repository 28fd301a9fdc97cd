"""Numbered, forward-only SQL migrations with checksums, safe under many starting workers.

Nobody waits inside a lock statement: the lock is tried, and tried again after a pause
without an open statement, because an open one would block `CREATE INDEX CONCURRENTLY`.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, LiteralString, cast

import psycopg
from psycopg import AsyncConnection

from registry.errors import StartRefused

FOLDER: Final = Path(__file__).parent / "migrations"
LOCK: Final = 7_221_903_441  # any constant; the same for every worker of every release
TABLE: Final = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now())
"""


async def migrate(
    url: str, *, also: Callable[[], Awaitable[None]] | None = None, patience: float = 60
) -> list[str]:
    """Applies what is missing, then runs `also` under the same lock. Names of what it applied.

    Raises `StartRefused` where the database is newer, was changed, or stays locked.
    """
    try:
        connection = await AsyncConnection.connect(url, autocommit=True, connect_timeout=10)
    except psycopg.OperationalError as error:
        reason = " ".join(str(error).split())[:200]
        raise StartRefused(f"DATABASE_URL: cannot connect: {reason}") from None
    async with connection:
        await _lock(connection, patience)
        try:
            applied = await _apply(connection)
            if also is not None:
                await also()
        finally:
            await connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
    return applied


async def _lock(connection: AsyncConnection, patience: float) -> None:
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,))
        row = await cursor.fetchone()
        if row is not None and row[0]:
            return
        if asyncio.get_running_loop().time() > deadline:
            raise StartRefused(
                f"another process has been migrating this database for {patience:.0f} s: "
                "wait for it, or end it"
            )
        await asyncio.sleep(0.1)


async def _apply(connection: AsyncConnection) -> list[str]:
    await connection.execute(TABLE)
    cursor = await connection.execute("SELECT number, checksum FROM schema_migrations")
    known = {int(row[0]): str(row[1]) for row in await cursor.fetchall()}
    files = sorted(FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    numbers = [int(file.name[:4]) for file in files]
    if known and max(known) > max(numbers):
        raise StartRefused(
            f"the database is at migration {max(known)}, this release knows {max(numbers)}: "
            "start the newer release"
        )
    applied: list[str] = []
    for number, file in zip(numbers, files, strict=True):
        text = file.read_text("utf-8")
        checksum = hashlib.sha256(text.encode()).hexdigest()
        if number in known:
            if known[number] != checksum:
                raise StartRefused(
                    f"migration {file.name} differs from the one the database has: "
                    "restore the file; changes go into a new migration"
                )
            continue
        async with connection.transaction():
            await connection.execute(cast("LiteralString", text))
            await connection.execute(
                "INSERT INTO schema_migrations (number, name, checksum) VALUES (%s, %s, %s)",
                (number, file.name, checksum),
            )
        applied.append(file.name)
    return applied
