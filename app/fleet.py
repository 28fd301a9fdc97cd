"""`python -m app fleet`: Postgres, Redis and several workers on one machine.

Up: Postgres, Redis, then all workers at once, on ports from `PORT` upwards. Down, the reverse:
the workers drain first. A worker that dies is started again after a pause; what it had goes
on at the others. `DATABASE_URL` and `REDIS_URL` are used where they are set.
"""

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.embedded import EmbeddedPostgres
from app.redis_server import LocalRedis
from app.settings import Settings
from registry.errors import StartRefused

PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before a dead worker is started again, doubled
GRACE: Final = 10.0  # seconds above DRAIN_SECONDS before a worker is killed
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

Tell = Callable[[str], None]


@dataclass
class FleetWorker:
    """One worker: its number from 1, its port, its process while it has one."""

    number: int
    port: int
    process: asyncio.subprocess.Process | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)


class Fleet:
    def __init__(self, settings: Settings, environment: dict[str, str], tell: Tell) -> None:
        self._settings = settings
        self._environment = environment
        self._tell = tell
        self._stopping = asyncio.Event()
        ports = range(settings.port, settings.port + settings.workers)
        self._workers = [FleetWorker(n, port) for n, port in enumerate(ports, start=1)]

    async def run(self) -> None:
        """Until a signal; then until all workers have ended."""
        with _signals(self._signal):
            async with asyncio.TaskGroup() as group:
                for worker in self._workers:
                    group.create_task(self._keep(worker))
                group.create_task(self._greet())

    def _signal(self, sig: signal.Signals) -> None:
        """Handed on to the workers: the first drains them, a second one hurries them."""
        del sig
        self._stopping.set()
        for worker in self._workers:
            worker.ready.set()
            if worker.process is not None and worker.process.returncode is None:
                worker.process.terminate()

    async def _greet(self) -> None:
        for worker in self._workers:
            await worker.ready.wait()
        if not self._stopping.is_set():
            ports = ", ".join(str(worker.port) for worker in self._workers)
            self._tell(f"{len(self._workers)} workers are ready on the ports {ports}")

    async def _keep(self, worker: FleetWorker) -> None:
        pause = PAUSE
        while not self._stopping.is_set():
            code = await self._serve(worker)
            if self._stopping.is_set():
                return
            self._tell(f"worker {worker.number} ended with {code}; started again in {pause:g} s")
            try:
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            except TimeoutError:
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _serve(self, worker: FleetWorker) -> int:
        """One process of the worker, to its end; its exit code."""
        process = worker.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app", "serve"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**self._environment, "PORT": str(worker.port)},
            start_new_session=True,  # a Ctrl-C is for the fleet, which ends them in order
        )
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self._read(worker, process))
                ending = group.create_task(process.wait())
                stopping = group.create_task(self._stopping.wait())
                await asyncio.wait({ending, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if not ending.done():
                    grace = self._settings.drain_seconds + GRACE
                    await asyncio.wait({ending}, timeout=grace)
                if not ending.done():
                    self._tell(f"worker {worker.number} would not end and is killed")
                    process.kill()
                    await asyncio.wait({ending})
                stopping.cancel()
                await asyncio.wait({reading}, timeout=1)
                reading.cancel()
        finally:
            if process.returncode is None:  # this process itself is being cancelled
                process.kill()
        return process.returncode if process.returncode is not None else -1

    async def _read(self, worker: FleetWorker, process: asyncio.subprocess.Process) -> None:
        """Its standard output says where it is ready."""
        if process.stdout is None:
            return
        while line := await process.stdout.readline():
            self._tell(f"worker {worker.number}: {line.decode(errors='replace').strip()}")
            worker.ready.set()


async def fleet(settings: Settings, tell: Tell) -> None:
    """Runs it until a signal has ended it. Raises `StartRefused`."""
    async with AsyncExitStack() as stack:
        _check_ports(settings)
        stack.enter_context(_alone(settings.data_dir))
        environment = dict(os.environ)
        if settings.database_url is None:
            postgres = await asyncio.to_thread(EmbeddedPostgres.start, settings.data_dir)
            stack.push_async_callback(asyncio.to_thread, postgres.stop)
            environment["DATABASE_URL"] = postgres.url
        if settings.redis_url is None:
            folder = settings.data_dir / "redis"
            redis = await asyncio.to_thread(LocalRedis, folder, _free_port())
            stack.push_async_callback(asyncio.to_thread, redis.stop)
            environment["REDIS_URL"] = redis.url
        await Fleet(settings, environment, tell).run()


def _check_ports(settings: Settings) -> None:
    for port in range(settings.port, settings.port + settings.workers):
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((settings.host, port))
            except (OSError, OverflowError) as error:
                raise StartRefused(
                    f"PORT: a worker cannot listen on {settings.host}:{port} ({error}); stop "
                    "what uses it, or set PORT to the first of as many free ports as WORKERS"
                ) from None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _alone(data_dir: Path) -> Generator[None]:
    """One fleet for each data folder; the lock dies with its process."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        file = (data_dir / "fleet.lock").open("w")
    except OSError as error:
        raise StartRefused(f"DATA_DIR: {data_dir} cannot be written ({error.strerror})") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartRefused(
                f"DATA_DIR: a fleet already runs on {data_dir}: stop it, or set another one"
            ) from None
        yield


@contextmanager
def _signals(handle: Callable[[signal.Signals], None]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    for sig in SIGNALS:
        loop.add_signal_handler(sig, handle, sig)
    try:
        yield
    finally:
        for sig in SIGNALS:
            loop.remove_signal_handler(sig)
