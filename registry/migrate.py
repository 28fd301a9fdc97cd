"""Numbered, forward-only SQL migrations with checksums, safe under many starting workers.

One at a time, by `registry.turn`, which also works through a pooler. A change waits only
briefly for a lock, and then tries again: while it waits, all that come after it wait too.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, LiteralString, cast

import psycopg
import structlog
from psycopg import AsyncConnection

from registry.deadline import Deadline
from registry.errors import StartRefused
from registry.turn import Turn, TurnLost, holding

FOLDER: Final = Path(__file__).parent / "migrations"
LONGEST: Final = 900.0  # seconds for all changes together
LOCK: Final = "SET LOCAL lock_timeout = '2s'"
PAUSE: Final = 0.5
CONNECT: Final[dict[str, Any]] = {
    "autocommit": True,
    "connect_timeout": 10,
    "prepare_threshold": None,  # a pooler may stand in between
    "keepalives_idle": 10,
    "tcp_user_timeout": 10_000,
}
TABLE: Final = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now())
"""

Also = Callable[[AsyncConnection], Awaitable[None]]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def known_migrations() -> list[Migration]:
    """Those of this release, in order. A number stands for one file."""
    files = sorted(FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    out = [Migration(int(file.name[:4]), file.name, file.read_text("utf-8")) for file in files]
    for one, other in pairwise(out):
        if one.number == other.number:
            raise StartRefused(f"migrations {one.name} and {other.name} have the same number")
    return out


async def migrate(url: str, *, also: Also | None = None, patience: float = 60) -> list[str]:
    """Applies what is missing, then runs `also` in the same turn. Names of what it applied.

    Raises `StartRefused` where the database is newer, was changed, stays another's for
    `patience` seconds, or lets nobody change it for `LONGEST`.
    """

    async def connect() -> AsyncConnection:
        return await AsyncConnection.connect(url, **CONNECT)

    try:
        connection = await connect()
    except psycopg.OperationalError as error:
        raise StartRefused(f"DATABASE_URL: cannot connect: {_line(error)}") from None
    async with connection:
        deadline = Deadline(LONGEST)
        try:
            with deadline.on(connection):
                return await _in_turn(connection, Turn(connect), also, patience)
        except psycopg.OperationalError as error:
            if deadline.over:
                raise StartRefused(
                    f"the schema could not be changed within {LONGEST:.0f} s: end the "
                    "transactions that the log names, and start again"
                ) from None
            raise StartRefused(f"DATABASE_URL: cannot migrate: {_line(error)}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


async def _in_turn(
    connection: AsyncConnection, turn: Turn, also: Also | None, patience: float
) -> list[str]:
    applied: list[str] = []

    async def work() -> None:
        await _apply(connection, turn, applied)
        if also is not None:
            await also(connection)

    while True:
        async with holding(turn, connection, patience):
            try:
                await turn.during(work)
            except TurnLost:  # this process stood still; what it has applied stays
                log.warning("schema_turn_lost")
            else:
                return applied


async def _apply(connection: AsyncConnection, turn: Turn, applied: list[str]) -> None:
    await connection.execute(TABLE)
    cursor = await connection.execute("SELECT number, checksum FROM schema_migrations")
    done = {int(row[0]): str(row[1]) for row in await cursor.fetchall()}
    known = known_migrations()
    newest = max(item.number for item in known)
    if done and max(done) > newest:
        raise StartRefused(
            f"the database is at migration {max(done)}, this release knows {newest}: "
            "start the newer release"
        )
    for item in known:
        if item.number not in done:
            await _change(connection, turn, item)
            applied.append(item.name)
        elif done[item.number] != item.checksum:
            raise StartRefused(
                f"migration {item.name} differs from the one the database has: "
                "restore the file; changes go into a new migration"
            )


async def _change(connection: AsyncConnection, turn: Turn, item: Migration) -> None:
    while True:
        try:
            async with connection.transaction():
                await connection.execute(LOCK)
                await connection.execute(cast("LiteralString", item.text))
                await connection.execute(
                    "INSERT INTO schema_migrations (number, name, checksum) VALUES (%s, %s, %s)",
                    (item.number, item.name, item.checksum),
                )
                await turn.check(connection)
        except psycopg.errors.LockNotAvailable:
            log.warning("migration_waits_for_a_lock", migration=item.name)
            await asyncio.sleep(PAUSE)
        else:
            return
