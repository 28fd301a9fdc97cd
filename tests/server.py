"""The real service as its users start it: a process, a port, a data folder of its own."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import httpx

from tests.services import PROJECT, free_port

READY_SECONDS = 60


class Server:
    """`python -m app serve` on a free port. `settings` are environment variables."""

    def __init__(self, data_dir: Path, database_url: str | None = None, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data_dir / "serve.log"
        self._data_dir = data_dir
        self._settings = {"DATABASE_URL": database_url} if database_url else {}
        self._settings |= settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """No variable of the machine's own reaches the service under test."""
        kept = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
        own = {
            "PORT": str(self.port),
            "DATA_DIR": str(self._data_dir),
            "ENV_FILE": os.devnull,
            "PYTHONPATH": str(PROJECT),
        }
        return {k: os.environ[k] for k in kept if k in os.environ} | own | self._settings

    def start(self, **more: str) -> Self:
        """Starts, and returns once it is ready. `more`: settings for this start alone."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "app", "serve"],
                env=self.environment | more,
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the service is not ready:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.02)
        return self

    def _ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=2).status_code == 200
        except httpx.TransportError:
            return False

    @property
    def process(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise AssertionError("the service was never started")
        return self._process

    def stop(self, *, with_signal: signal.Signals = signal.SIGINT, seconds: float = 30) -> int:
        """Ends it as Ctrl-C would; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        return self.process.wait(seconds)

    def kill(self) -> None:
        """kill -9: nothing of it runs on."""
        self.process.kill()
        self.process.wait(10)

    async def stopped(self, seconds: float = 30) -> int:
        """`stop`, without holding up the test's own loop."""
        return await asyncio.to_thread(self.stop, seconds=seconds)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                self.kill()
                raise
