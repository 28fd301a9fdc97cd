"""A person at a terminal: a process on a pseudo-terminal, typed at and read from."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from tests.api.running import OWN, PROJECT

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """`python -m app ARGUMENTS`; stdout is a pipe of its own, so that both can be told apart."""

    def __init__(self, *arguments: str, settings: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        environment = {name: os.environ[name] for name in OWN if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", *arguments],
            cwd=PROJECT,
            env={**environment, "TERM": "xterm", "ENV_FILE": os.devnull, **settings},
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.shown = self.before = ""

    def until(self, *texts: str, seconds: float = 30) -> str:
        """Reads until one of the texts is on the screen: that text. `before` is what came
        before it, and `shown` what comes after it."""
        deadline = time.monotonic() + seconds
        while not (found := [text for text in texts if text in self.shown]):
            if not self._read(deadline):
                raise AssertionError(f"{texts} never came; shown:\n{self.shown}")
        first = min(found, key=self.shown.index)
        self.before, _, self.shown = self.shown.partition(first)
        return first

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # the other side is closed
            return False
        self.shown += _COLOUR.sub("", data.decode("utf-8", "replace"))
        return bool(data)

    def enter(self, text: str) -> None:
        os.write(self._master, text.encode() + b"\n")

    def end(self, seconds: float = 30) -> tuple[int, str]:
        """Exit code and stdout; the screen's rest is in `shown`."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and self._read(deadline):
            continue
        out, _ = self.process.communicate(timeout=seconds)
        while self._read(time.monotonic() + 0.1):
            continue
        return self.process.returncode, out.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._master)
