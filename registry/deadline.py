"""Deadline: a limit on database calls that works without cancelling them.

A call that is cancelled in the middle leaves its connection half way, and a server that
swallows bytes does not hear a cancel either. So when the time is up the socket is shut down:
libpq then finds its server gone, and the call fails by itself, as in a crash.
"""

import asyncio
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection

GRACE: Final = 5.0  # seconds that a call under way still has once its caller was cancelled


class Deadline:
    """`seconds` for all that happens under it, the wait for a connection included."""

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._at = self._loop.time() + seconds
        self._waiter: asyncio.Task[Any] | None = None
        self._connection: AsyncConnection[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._hurried = False
        self.over = False  # a socket was shut down: the call failed because of this limit

    @property
    def left(self) -> float:
        """Seconds, 0 at the least."""
        return max(0.0, self._at - self._loop.time())

    def hurry(self) -> None:
        """The caller was cancelled: a mere wait ends now, a call under way within `GRACE`."""
        self._hurried = True
        self._at = min(self._at, self._loop.time() + GRACE)
        if self._waiter is not None:
            self._waiter.cancel()
        if self._connection is not None:
            self._arm(self._connection)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """A wait that may be cut off at any point, as nothing has been begun."""
        if self._hurried:
            raise asyncio.CancelledError
        self._waiter = asyncio.current_task()
        try:
            yield
        finally:
            self._waiter = None

    @contextmanager
    def on(self, connection: AsyncConnection[Any]) -> Generator[None]:
        """Calls on this connection end in time, with an error of psycopg if need be."""
        self._arm(connection)
        try:
            yield
        finally:
            self._connection = None
            if self._timer is not None:
                self._timer.cancel()

    def _arm(self, connection: AsyncConnection[Any]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._connection = connection
        self._timer = self._loop.call_at(self._at, self._sever, connection)

    def _sever(self, connection: AsyncConnection[Any]) -> None:
        self.over = True
        sever(connection)


def sever(connection: AsyncConnection[Any]) -> None:
    """Shuts the socket down in both directions; the descriptor stays libpq's to close."""
    try:
        with socket.socket(fileno=os.dup(connection.fileno())) as handle:
            handle.shutdown(socket.SHUT_RDWR)
    except (psycopg.Error, OSError):  # it is down already
        return
