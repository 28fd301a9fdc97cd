"""The serving process: one socket, one service, one way down.

1. The address is bound first: a port in use is found before anything is started.
2. The first SIGINT or SIGTERM starts the drain: readiness turns red, no run is claimed, the
   running ones end at a step boundary or are handed back, then the event streams get their
   `retry:` line and close, and only then does the server stop and the pools close.
3. A second signal hurries: runs are handed back at once, wherever they are. A third one is
   uvicorn's own: stop now.
4. A signal before the server is up cancels the start; what was started is taken down.
"""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Generator
from types import FrameType
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api.application import create_app
from app.root import Service, open_service
from app.settings import Settings
from app.stream.streams import Streams
from registry.errors import StartRefused

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
BACKLOG: Final = 2048
SEND_BUFFER: Final = 256 * 1024  # bytes

log = structlog.get_logger()


class AbortableProtocol(HttpToolsProtocol):
    """Gives the application a way to drop a connection whose reader does not read."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        extensions: dict[object, object] = {"abort": self.transport.abort}
        self.scope["extensions"] = extensions  # pyright: ignore[reportGeneralTypeIssues]


class Server(uvicorn.Server):
    """`uvicorn.Server` whose first signal drains instead of cutting everything off."""

    def __init__(self, app: ASGIApp, service: Service, streams: Streams) -> None:
        grace = service.settings.drain_seconds * 0.2
        super().__init__(
            uvicorn.Config(
                app,
                http=AbortableProtocol,
                ws="none",
                lifespan="off",  # the service is opened around the server, not by it
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=max(1, round(grace)),
            )
        )
        self._service = service
        self._streams = streams
        self._asked = asyncio.Event()
        self._hurry = asyncio.Event()
        self._on_ready: Callable[[], None] = lambda: None

    async def run_until_signal(self, sock: socket.socket, on_ready: Callable[[], None]) -> None:
        """Serves until a signal has ended it. `on_ready` is called once it answers."""
        self._on_ready = on_ready
        async with asyncio.TaskGroup() as group:
            draining = group.create_task(self._drain_when_asked())
            await self.serve([sock])
            draining.cancel()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Not uvicorn's: it would raise the signal again after its end, and so kill the
        process before the pools are closed. `_signals` calls `handle_exit` instead."""
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self._asked.is_set():
            self._asked.set()
        elif not self._hurry.is_set():
            self._hurry.set()
        else:
            super().handle_exit(sig, frame)

    async def _drain_when_asked(self) -> None:
        await self._asked.wait()
        log.info("drain_started", runs=len(self._service.worker.tasks), streams=self._streams.open)
        clean = await self._service.drain(self._hurry)
        closed = await self._streams.close_all(self._service.settings.drain_seconds * 0.1)
        log.info("drain_finished", runs_ended=clean, streams_closed=closed)
        self.should_exit = True


def bind(settings: Settings) -> socket.socket:
    """The listening socket. Raises `StartRefused` with one line where it cannot be had."""
    host, port = settings.host, settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # What the kernel keeps for a reader that does not read; it would grow to megabytes.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        _drop_vanished_peers(sock, settings.send_timeout_seconds)
        sock.bind((host, port))
        # Listening already: of two that start at once one is refused here, not half way up.
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        reason = (error.strerror or str(error)).lower()
        raise StartRefused(
            f"PORT: cannot listen on {host}:{port} ({reason}); stop what uses it,"
            " or set PORT or HOST to something else"
        ) from None
    sock.setblocking(False)
    return sock


def _drop_vanished_peers(sock: socket.socket, send_timeout: float) -> None:
    """Connections inherit this: a peer that takes no bytes, or that is gone without a word,
    is given up by the kernel, should we not have noticed. Not every system has the options."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    seconds = max(1, round(send_timeout))
    for name, value in (
        ("TCP_USER_TIMEOUT", 2 * seconds * 1000),
        ("TCP_KEEPIDLE", seconds),
        ("TCP_KEEPINTVL", max(1, seconds // 3)),
        ("TCP_KEEPCNT", 3),
    ):
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


def address(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(settings: Settings, on_ready: Callable[[str], None]) -> None:
    """Serves until a signal has ended it; `on_ready` gets the address. Raises `StartRefused`,
    and CancelledError where a signal came before it was up."""
    target = _Target()
    sock = bind(settings)
    with contextlib.closing(sock), _signals(target):
        async with open_service(settings) as service:
            structlog.contextvars.bind_contextvars(worker_id=service.worker.worker_id)
            streams = Streams(max_seconds=settings.stream_max_seconds)
            server = Server(create_app(service, streams), service, streams)
            target.server = server
            await server.run_until_signal(sock, lambda: on_ready(address(sock)))


class _Target:
    """Where a signal goes: to the server, or, before there is one, to the task that starts."""

    def __init__(self) -> None:
        self.server: Server | None = None
        self._task = asyncio.current_task()

    def signal(self, sig: signal.Signals) -> None:
        log.info("signal_received", signal=sig.name)
        if self.server is not None:
            self.server.handle_exit(sig, None)
        elif self._task is not None:
            self._task.cancel()


@contextlib.contextmanager
def _signals(target: _Target) -> Generator[None]:
    loop = asyncio.get_running_loop()
    for sig in SIGNALS:
        loop.add_signal_handler(sig, target.signal, sig)
    try:
        yield
    finally:
        for sig in SIGNALS:
            loop.remove_signal_handler(sig)
