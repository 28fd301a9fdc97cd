"""The simulator as a process of its own, so that it never shares a loop with what it tests."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.simulator.server import Stats

PROJECT = Path(__file__).resolve().parents[2]
TIMEOUT = 10
POLL = 0.005


class Simulator:
    """Runs on a random port from construction to `stop`; it also ends with its parent."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.simulator", "--port", "0", "--while-stdin"],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if "http://" not in line:
            self.stop()
            raise RuntimeError("the model simulator did not start")
        self.url = line.split()[-1]  # the base URL of the API, with /v1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stats(self) -> Stats:
        """Blocks for a millisecond or two; inside a loop prefer `until`."""
        return Stats(**self._call("/stats"))

    def reset(self) -> None:
        self._call("/reset", b"{}")

    async def until(self, condition: Callable[[Stats], bool], seconds: float = TIMEOUT) -> Stats:
        """Waits until the counters meet the condition; raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while True:
                stats = await asyncio.to_thread(self.stats)
                if condition(stats):
                    return stats
                await asyncio.sleep(POLL)

    def _call(self, path: str, data: bytes | None = None) -> dict[str, Any]:
        address = self.url.removesuffix("/v1") + path
        with urllib.request.urlopen(address, data=data, timeout=TIMEOUT) as answer:
            return json.loads(answer.read())

    def stop(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(timeout=TIMEOUT)
        if self._process.stdout is not None:
            self._process.stdout.close()
