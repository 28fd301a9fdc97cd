"""The pool of connections: how each is set up, and how one is told dead without asking.

1. Each connection bounds what the server does for it: a statement, an idle transaction, and
   where the server can (17 and later) a transaction as a whole. So a worker that freezes in
   the middle of one holds its locks for a time that ends, well under a lease.
2. A server that went away has closed its sockets, and a closed socket is readable. Whoever
   takes a connection looks at that, which costs no round trip; only a readable one, or one
   that lay idle for long, is asked.
3. The pool tries to connect for a few seconds, and again as long as somebody waits: its own
   back-off would let minutes pass after a long outage.
"""

import select
from dataclasses import dataclass
from typing import Any, Final, LiteralString, cast

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from registry.deadline import Deadline

Connection = AsyncConnection[DictRow]
Pool = AsyncConnectionPool[Connection]

CONFIGURE_SECONDS: Final = 5
SINCE_17: Final = 170000  # the servers that have `transaction_timeout`
TCP: Final = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # ms that sent bytes may stay unacknowledged
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that the server allows. `transaction` None: for as long as it takes."""

    statement: float = 20
    idle: float = 5  # between two statements of a transaction
    transaction: float | None = 25

    def settings(self, server_version: int) -> dict[str, str]:
        """The server's settings that say so, in its own units."""
        out = {
            "statement_timeout": _ms(self.statement),
            "idle_in_transaction_session_timeout": _ms(self.idle),
        }
        if self.transaction is not None and server_version >= SINCE_17:
            out["transaction_timeout"] = _ms(self.transaction)
        return out

    def begin(self, server_version: int) -> LiteralString:
        """Starts a transaction behind a pooler, where a setting can only be local."""
        parts = [f"SET LOCAL {k} = '{v}'" for k, v in self.settings(server_version).items()]
        return cast("LiteralString", "; ".join(["BEGIN", *parts]))


def _ms(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


def make_pool(url: str, *, size: int, pooler: bool, limits: Limits) -> Pool:
    """A pool that is not open yet, of autocommit connections with rows as dicts."""
    kwargs: dict[str, Any] = {
        **TCP,
        "autocommit": True,
        "row_factory": dict_row,
        # Behind pgbouncer in transaction mode a prepared statement may be on another backend.
        "prepare_threshold": None if pooler else 5,
    }

    async def configure(connection: Connection) -> None:
        settings = limits.settings(connection.info.server_version).items()
        sql = cast("LiteralString", "; ".join(f"SET {k} = '{v}'" for k, v in settings))
        try:
            with Deadline(CONFIGURE_SECONDS).on(connection):
                await connection.execute(sql)
        except psycopg.Error:
            await connection.close()
            raise

    return AsyncConnectionPool(
        url,
        kwargs=kwargs,
        min_size=min(2, size),
        max_size=size,
        configure=None if pooler else configure,
        reconnect_timeout=4,
        reconnect_failed=_again,
        open=False,
    )


async def _again(pool: Pool) -> None:
    """The pool has given up on a connection: whoever waits for one would wait in vain."""
    if pool.get_stats().get("requests_waiting"):
        await pool.check()  # with nothing idle in it, this only starts a new try


def readable(connection: Connection) -> bool:
    """The server has said something unasked: a notice, or good-bye."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
