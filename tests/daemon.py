"""A server process of a test, with a folder of its own, which is removed with it."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from tests.services import ServiceMissing, scratch

START_SECONDS = 10


class Daemon:
    """`name` for its folder and for what is said of it; its log is `log` in the folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = scratch(name)
        self._process: subprocess.Popen[bytes] | None = None

    def launch(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        answers: Callable[[], bool],
        user: int | None = None,
        group: int | None = None,
    ) -> None:
        """Returns once it answers. Raises `ServiceMissing` with the end of its log."""
        process = self._process = subprocess.Popen(
            command,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            user=user,
            group=group,
        )
        deadline = time.monotonic() + START_SECONDS
        while not answers():
            if process.poll() is not None or time.monotonic() > deadline:
                log = self.folder / "log"
                said = log.read_text()[-500:] if log.exists() else "it said nothing"
                self.stop()
                raise ServiceMissing(f"{self.name} does not answer: {said}")
            time.sleep(0.05)

    def stop(self) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()
            process.wait(START_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
