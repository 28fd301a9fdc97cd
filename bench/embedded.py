"""How long the embedded Postgres takes to start, to be joined and to stop."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from app.embedded import EmbeddedPostgres
from bench import Figure

Result = TypeVar("Result")


def measure() -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="research-bench-"))
    folder.chmod(0o755)
    try:
        cold, server = _timed(lambda: EmbeddedPostgres.start(folder))
        yield Figure("first start, with initdb", cold, "s", 5)
        yield Figure("stop", _timed(server.stop)[0], "s", 1)
        warm, server = _timed(lambda: EmbeddedPostgres.start(folder))
        yield Figure("later start", warm, "s", 1)
        joined, second = _timed(lambda: EmbeddedPostgres.start(folder))
        yield Figure("joining a running server", joined, "s", 0.1)
        second.stop()
        server.stop()
    finally:
        shutil.rmtree(folder)


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    began = time.monotonic()
    result = work()
    return time.monotonic() - began, result
