"""A connection through the proxy: two ends, each of which passes on what it reads, late."""

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)  # SO_LINGER with no time: close sends RST
EARLY: Final = 0.0002  # seconds; a tick of the clock before its time counts as in time


@dataclass
class Weather:
    """What all connections of a proxy go through now. Keys: True is up, from the client."""

    delays: dict[bool, float] = field(default_factory=lambda: {True: 0.0, False: 0.0})
    bytes: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    paused: bool = False
    dropping: bool = False


class End(asyncio.Protocol):
    """One end: what it reads goes to the other one, after the delay of its direction."""

    def __init__(self, weather: Weather, link: "Link", *, up: bool) -> None:
        self._weather = weather
        self._link = link
        self._up = up
        self._queue: deque[tuple[float, bytes]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self.transport: asyncio.Transport | None = None
        self.takes = True  # False while the kernel takes no more from us
        self.ended = False  # its end of stream went on to the other side
        self.over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._link.settle()

    def data_received(self, data: bytes) -> None:
        if self._link.hollow:
            return
        self._weather.bytes[self._up] += len(data)
        self._later(data)

    def eof_received(self) -> bool:
        """True keeps this end open: the other direction may still flow."""
        if self._link.hollow:
            return False
        self._later(b"")
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self.over = True
        if self._timer is not None:
            self._timer.cancel()
        self._link.lost(self, broken=exc is not None)

    def pause_writing(self) -> None:
        self.takes = False
        self._link.settle()

    def resume_writing(self) -> None:
        self.takes = True
        self._link.settle()

    def read(self, *, on: bool) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        if on and not self.transport.is_reading():
            self.transport.resume_reading()
        elif not on and self.transport.is_reading():
            self.transport.pause_reading()

    def abort(self) -> None:
        """A reset, not a goodbye."""
        if self.transport is None or self.over:
            return
        raw = self.transport.get_extra_info("socket")
        if raw.family != socket.AF_UNIX:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.transport.abort()

    def _later(self, data: bytes) -> None:
        due = asyncio.get_running_loop().time() + self._weather.delays[self._up]
        if self._queue:
            due = max(due, self._queue[-1][0])  # order survives a delay that shrinks
        self._queue.append((due, data))
        self.flush()

    def flush(self) -> None:
        """Passes on what is due, and comes back for the rest."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._weather.paused:
            return
        loop = asyncio.get_running_loop()
        while self._queue and self._queue[0][0] <= loop.time() + EARLY:
            self._link.pass_on(self, self._queue.popleft()[1])
        if self._queue:
            self._timer = loop.call_at(self._queue[0][0], self.flush)


class Link:
    """A client's connection, and the one to the upstream that is made for it.

    `hollow`: bytes were lost, so it looks alive and never is again.
    """

    def __init__(self, weather: Weather, *, left: Callable[["Link"], object]) -> None:
        self._weather = weather
        self._left = left
        self.hollow = weather.dropping
        self.client = End(weather, self, up=True)
        self.server = End(weather, self, up=False)

    def settle(self) -> None:
        """An end is read only where its bytes can go on; a hollow link swallows them."""
        for end in (self.client, self.server):
            other = self._other(end)
            ready = other.transport is not None and other.takes and not self._weather.paused
            end.read(on=self.hollow or ready)

    def pass_on(self, end: End, data: bytes) -> None:
        target = self._other(end).transport
        if self.hollow or target is None or target.is_closing():
            return
        if data:
            target.write(data)
            return
        end.ended = True
        target.write_eof()
        if self._other(end).ended:
            for transport in (self.client.transport, self.server.transport):
                if transport is not None:
                    transport.close()

    def lost(self, end: End, *, broken: bool) -> None:
        other = self._other(end)
        if not self.hollow and not other.over:
            if broken:
                other.abort()
            elif other.transport is not None:
                other.transport.close()
        if self.client.over and (self.server.over or self.server.transport is None):
            self._left(self)

    def swallow(self) -> None:
        self.hollow = True
        self.settle()

    def flush(self) -> None:
        self.settle()
        self.client.flush()
        self.server.flush()

    def abort(self) -> None:
        self.client.abort()
        self.server.abort()

    def _other(self, end: End) -> End:
        return self.server if end is self.client else self.client
