"""A real server for tests: `python -m app serve` as a process of its own, on a random port."""

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

PROJECT = Path(__file__).resolve().parents[2]
START_SECONDS = 30
STOP_SECONDS = 30

# Nothing of the machine's own settings reaches a server under test.
OWN = ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR", "LANG")


class Running:
    """A server on `database_url`; `settings` are variables of its environment,
    `documents` files of its folder."""

    def __init__(
        self,
        database_url: str,
        settings: Mapping[str, str] | None = None,
        *,
        documents: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="research-serve-"))
        folder = self.folder / "documents"
        folder.mkdir()
        for name, text in (documents or {}).items():
            (folder / name).write_text(text, "utf-8")
        self.environment = {
            **{name: os.environ[name] for name in OWN if name in os.environ},
            "ENV_FILE": str(self.folder / "no.env"),
            "DATABASE_URL": database_url,
            "DATA_DIR": str(self.folder / "data"),
            "DOCUMENTS_DIR": str(folder),
            "PORT": "0",
            **(settings or {}),
        }
        self.log = self.folder / "server.log"
        self.process = self._launch()
        self.url = self._address()

    def _launch(self) -> subprocess.Popen[str]:
        with self.log.open("a") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "app", "serve"],
                cwd=PROJECT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def _address(self) -> str:
        """From the line that the server prints once it answers."""
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            ready = selector.select(START_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if not line.startswith("Ready on http://"):
            self.stop(signal.SIGKILL)
            raise RuntimeError(f"the server did not start:\n{self.log.read_text()[-2000:]}")
        return line.split()[-1]

    def indexed(self, key: str | None = None) -> None:
        """Waits until all documents are read."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            seen = httpx.get(f"{self.url}/api/runtime", headers=headers).json()["documents"]
            if seen["indexed"] and not seen["pending"]:
                return
            time.sleep(0.05)
        raise RuntimeError(f"the documents were not indexed:\n{self.log.read_text()[-2000:]}")

    def restart(self) -> None:
        """A new process on the same database and folders, at a new address."""
        self.stop()
        self.process = self._launch()
        self.url = self._address()

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> int:
        """The exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        if self.process.stdout is not None:
            self.process.stdout.close()
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def client(self, key: str | None = None, **more: Any) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, **more)


def run_app(
    *arguments: str, settings: Mapping[str, str], seconds: float = START_SECONDS
) -> subprocess.CompletedProcess[str]:
    """`python -m app ARGUMENTS` to its end."""
    environment = {name: os.environ[name] for name in OWN if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=PROJECT,
        env={**environment, "ENV_FILE": os.devnull, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
