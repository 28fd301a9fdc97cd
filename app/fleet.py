"""`python -m app fleet`: Postgres, Redis and several workers on one machine.

Up: Postgres, Redis, then all workers at once, on ports from `PORT` upwards. Down, the reverse:
the workers drain first. A worker that dies is started again after a pause; what it had goes
on at the others. `DATABASE_URL` and `REDIS_URL` are used where they are set.

1. Signals are taken from before the first process is started until after the last has ended, so
   that none is left behind. A signal during the start lets the step at hand finish, then undoes.
2. Workers have sessions of their own: a Ctrl-C reaches the fleet alone, which ends them in order.
3. A worker that refuses to start, before it ever was ready, ends the fleet: it would refuse again.
"""

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from app.embedded import EmbeddedPostgres
from app.redis_server import LocalRedis
from app.settings import Settings
from registry.errors import StartRefused

PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before a dead worker is started again, doubled
STEADY: Final = 60.0  # seconds of life after which the pauses begin anew
GRACE: Final = 10.0  # seconds above DRAIN_SECONDS before a worker is killed
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Tell = Callable[[str], None]


@dataclass
class FleetWorker:
    """One worker: its number from 1, its port, its process while it has one. `ready` stays set
    once it has been ready."""

    number: int
    port: int
    process: asyncio.subprocess.Process | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)


class Fleet:
    def __init__(self, settings: Settings, tell: Tell) -> None:
        self._settings = settings
        self._tell = tell
        self._stopping = asyncio.Event()
        self._refused: FleetWorker | None = None
        ports = range(settings.port, settings.port + settings.workers)
        self._workers = [FleetWorker(n, port) for n, port in enumerate(ports, start=1)]

    async def run(self, environment: Mapping[str, str]) -> None:
        """Until `end`; then until all workers have ended. Raises `StartRefused`."""
        async with asyncio.TaskGroup() as group:
            for worker in self._workers:
                group.create_task(self._keep(worker, environment))
            group.create_task(self._greet())
        if self._refused is not None:
            raise StartRefused(f"worker {self._refused.number} refused to start, see above")

    def end(self) -> None:
        """The first call drains the workers, a second one hurries them."""
        self._stopping.set()
        for worker in self._workers:
            if worker.process is not None and worker.process.returncode is None:
                worker.process.terminate()

    async def _greet(self) -> None:
        for worker in self._workers:
            await self._unless_stopping(worker.ready.wait())
        if not self._stopping.is_set():
            ports = ", ".join(str(worker.port) for worker in self._workers)
            self._tell(f"{len(self._workers)} workers are ready on the ports {ports}")

    async def _keep(self, worker: FleetWorker, environment: Mapping[str, str]) -> None:
        loop = asyncio.get_running_loop()
        pause = PAUSE
        while not self._stopping.is_set():
            began = loop.time()
            code = await self._serve(worker, environment)
            if self._stopping.is_set():
                return
            if code > 0 and not worker.ready.is_set():
                self._refused = worker
                self.end()
                return
            if loop.time() - began > STEADY:
                pause = PAUSE
            self._tell(f"worker {worker.number} ended with {code}; started again in {pause:g} s")
            await self._unless_stopping(asyncio.sleep(pause))
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _unless_stopping(self, waiting: Coroutine[Any, Any, Any]) -> None:
        async with asyncio.TaskGroup() as group:
            tasks = {group.create_task(waiting), group.create_task(self._stopping.wait())}
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()

    async def _serve(self, worker: FleetWorker, environment: Mapping[str, str]) -> int:
        """One process of the worker, to its end; its exit code."""
        process = worker.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app", "serve"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**environment, "PORT": str(worker.port)},
            start_new_session=True,
        )
        try:
            if self._stopping.is_set():  # while it was being made
                process.terminate()
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self._read(worker, process))
                await self._unless_stopping(process.wait())
                code = await self._last(worker, process)
                await asyncio.wait({reading}, timeout=1)
                reading.cancel()
                return code
        finally:
            if process.returncode is None:  # this process itself is being cancelled
                process.kill()

    async def _last(self, worker: FleetWorker, process: asyncio.subprocess.Process) -> int:
        """Its end, by force where its drain has taken too long; the exit code."""
        try:
            async with asyncio.timeout(self._settings.drain_seconds + GRACE):
                return await process.wait()
        except TimeoutError:
            self._tell(f"worker {worker.number} would not end and is killed")
            process.kill()
            return await process.wait()

    async def _read(self, worker: FleetWorker, process: asyncio.subprocess.Process) -> None:
        """Its standard output says where it is ready."""
        if process.stdout is None:
            return
        while line := await process.stdout.readline():
            self._tell(f"worker {worker.number}: {line.decode(errors='replace').strip()}")
            worker.ready.set()


async def fleet(settings: Settings, tell: Tell) -> None:
    """Runs it until a signal has ended it. Raises `StartRefused`."""
    _check_ports(settings)
    async with AsyncExitStack() as stack:
        stack.enter_context(_alone(settings.data_dir))
        made = Fleet(settings, tell)
        stack.enter_context(_signals(made.end))
        await made.run(await _stores(settings, stack))


async def _stores(settings: Settings, stack: AsyncExitStack) -> dict[str, str]:
    """The environment of the workers, with the addresses of what was started for them."""
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
    return environment


def _check_ports(settings: Settings) -> None:
    if settings.port == 0:
        raise StartRefused("PORT: a fleet needs a number, that of its first worker")
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
def _signals(handle: Callable[[], None]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    # Under nohup a closed terminal is no reason to end.
    taken = [sig for sig in SIGNALS if signal.getsignal(sig) != signal.SIG_IGN]
    for sig in taken:
        loop.add_signal_handler(sig, handle)
    try:
        yield
    finally:
        for sig in taken:
            loop.remove_signal_handler(sig)
