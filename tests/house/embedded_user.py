"""A process that uses an embedded Postgres until its standard input is closed.

With `--forget` it ends without giving the server back.
"""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 30

if __name__ == "__main__":
    from app.embedded import EmbeddedPostgres

    server = EmbeddedPostgres.start(Path(sys.argv[1]))
    print(f"URL {server.url}", flush=True)
    sys.stdin.read()
    if "--forget" not in sys.argv:
        server.stop()


class User:
    """Runs this file as a process; there once `url` is known."""

    def __init__(self, data_dir: Path, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.house.embedded_user", str(data_dir), *options],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        # The log of the start comes first, on the same stream.
        lines = iter(self._process.stdout.readline, "")
        self.url = next((line.split()[1] for line in lines if line.startswith("URL ")), "")
        assert self.url, "the user of the embedded Postgres did not start"

    def leave(self) -> None:
        """An orderly end: it gives the server back."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=SECONDS)
        self._close()

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait(timeout=SECONDS)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._close()

    def _close(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()
