"""A TCP proxy that tests command: delays, holes, resets and refusals between two processes.

It runs on a thread and loop of its own, so a test whose loop is busy or blocked still has it.

1. A delay is pipelined: each chunk waits for its own time, in order, and others follow behind
   it; throughput stays, only latency grows.
2. A connection that lost bytes is never mended: `drop` makes all connections half-open until
   their ends close them, and `heal` is for the ones that come after.
3. What `pause` holds back flows again after `resume`, as after a partition that TCP survives.
"""

import asyncio
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qs, urlsplit

from tests.link import Link, Weather

Upstream = tuple[str, int] | Path  # a TCP address, or the path of a Unix socket
COMMAND_SECONDS: Final = 5
PORTS: Final = {"postgresql": 5432, "redis": 6379, "http": 80}


def upstream_of(url: str) -> Upstream:
    """Where a URL of Postgres, Redis or HTTP leads to."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    folder = query.get("host", [""])[0]
    port = parts.port or int(query.get("port", ["0"])[0]) or PORTS[parts.scheme]
    if folder.startswith("/"):
        return Path(folder) / f".s.PGSQL.{port}"
    return parts.hostname or folder, port


class Proxy:
    """Listens on a loopback port from construction to `close`. All methods may be called
    from any thread and return once the proxy has done it."""

    def __init__(self, upstream: str | Upstream) -> None:
        """`upstream`: an address, or the URL of a Postgres, Redis or HTTP server."""
        self._given = upstream if isinstance(upstream, str) else ""
        self._upstream = upstream_of(upstream) if isinstance(upstream, str) else upstream
        self._weather = Weather()
        self._links: set[Link] = set()
        self._listener: socket.socket | None = None
        self._over = asyncio.Event()
        self.accepted = 0  # connections since the start
        # Holds the port while nobody listens on it.
        self._place = _bound(0)
        self.port = int(self._place.getsockname()[1])
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._main, name=f"proxy-{self.port}", daemon=True)
        self._thread.start()
        if not self._ready.wait(COMMAND_SECONDS):
            raise RuntimeError("the proxy did not start")

    @property
    def url(self) -> str:
        """The upstream's URL, by way of the proxy."""
        parts = urlsplit(self._given)
        user = f"{parts.username}@" if parts.username else ""
        plain = "?sslmode=disable&gssencmode=disable" if parts.scheme == "postgresql" else ""
        return f"{parts.scheme}://{user}127.0.0.1:{self.port}{parts.path}{plain}"

    @property
    def open(self) -> int:
        """Connections that clients hold now."""
        return sum(not link.client.over for link in tuple(self._links))

    @property
    def bytes_up(self) -> int:
        """Bytes that clients sent for the upstream; what was swallowed does not count."""
        return self._weather.bytes[True]

    @property
    def bytes_down(self) -> int:
        return self._weather.bytes[False]

    def delay(self, *, up_ms: float = 0, down_ms: float = 0) -> None:
        """Latency of each direction from now on; up is from the client."""
        self._weather.delays = {True: up_ms / 1000, False: down_ms / 1000}

    def drop(self) -> None:
        """Swallows all bytes of all connections, and of new ones."""

        def act() -> None:
            self._weather.dropping = True
            for link in tuple(self._links):
                link.swallow()

        self._do(act)

    def pause(self) -> None:
        """Nothing flows, nothing is lost."""
        self._do(lambda: self._pause(True))

    def resume(self) -> None:
        self._do(lambda: self._pause(False))

    def reset(self) -> None:
        """RST to both ends of every connection; new ones work."""
        self._do(lambda: [link.abort() for link in tuple(self._links)])

    def refuse(self) -> None:
        """New connections are refused; those that stand stay."""
        self._do(self._shut)

    def heal(self) -> None:
        """New connections work as if nothing had been. Those that lost bytes stay silent to
        the client; the upstream's side of them is closed."""

        def act() -> None:
            self._weather.dropping = False
            self._weather.delays = {True: 0.0, False: 0.0}
            self._pause(False)
            for link in tuple(self._links):
                if link.hollow:
                    link.server.abort()
            self._listen()

        self._do(act)

    def close(self) -> None:
        """Ends all connections with a reset. Safe to call twice."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(COMMAND_SECONDS)
        self._place.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- on the proxy's own loop

    def _do(self, act: Callable[[], object]) -> None:
        async def run() -> None:
            act()

        asyncio.run_coroutine_threadsafe(run(), self._loop).result(COMMAND_SECONDS)

    def _pause(self, paused: bool) -> None:
        self._weather.paused = paused
        for link in tuple(self._links):
            link.flush()

    def _shut(self) -> None:
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            self._listener.close()
            self._listener = None

    def _listen(self) -> None:
        if self._listener is None:
            self._listener = listener = _bound(self.port)
            listener.setblocking(False)
            listener.listen(512)
            self._loop.add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        # Not the loop's own server: closing that loses a connection it has just accepted.
        try:
            client, _ = listener.accept()
        except (BlockingIOError, ConnectionError):
            return
        client.setblocking(False)
        self.accepted += 1
        self._group.create_task(self._serve_one(client))

    async def _serve_one(self, client: socket.socket) -> None:
        link = Link(self._weather, left=self._links.discard)
        self._links.add(link)
        await self._loop.connect_accepted_socket(lambda: link.client, client)
        if not link.hollow:
            await self._connect(link)

    async def _connect(self, link: Link) -> None:
        try:
            if isinstance(self._upstream, Path):
                path = os.fspath(self._upstream)
                await self._loop.create_unix_connection(lambda: link.server, path)
            else:
                await self._loop.create_connection(lambda: link.server, *self._upstream)
        except OSError:
            link.client.abort()
            return
        if link.client.over:
            link.server.abort()

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        async with asyncio.TaskGroup() as self._group:
            self._listen()
            self._ready.set()
            await self._over.wait()
            self._shut()
        for link in tuple(self._links):
            link.abort()
        await asyncio.sleep(0)  # for the transports to close


def _bound(port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    return made
