"""The project's nginx configuration, served by a real nginx before a worker under test."""

import os
import re
import shutil
import subprocess
import time
from types import TracebackType
from typing import Self

import httpx

from tests.debian import server
from tests.services import PROJECT, ServiceMissing, free_port, scratch

START_SECONDS = 10


class Nginx:
    """`deploy/nginx.conf` as it is, but for addresses, folders and `read_timeout` in seconds."""

    def __init__(self, upstream: str, *, read_timeout: float) -> None:
        binary = server("nginx", "nginx-light", "nginx", "nginx-common")
        self.folder = scratch("nginx")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        text = (PROJECT / "deploy" / "nginx.conf").read_text()
        for pattern, value in (
            (r"listen 80;", f"listen 127.0.0.1:{self.port};"),
            (r"http://worker:8000", upstream),
            (r"resolver [^;]*;", ""),
            (r"proxy_read_timeout [^;]*;", f"proxy_read_timeout {int(read_timeout * 1000)}ms;"),
            (r"/dev/std(?:err|out)", f"{self.folder}/log"),
            (r"/tmp/nginx", f"{self.folder}/nginx"),
        ):
            text, found = re.subn(pattern, value, text)
            assert found, f"deploy/nginx.conf has no {pattern}"
        config = self.folder / "nginx.conf"
        config.write_text(text)
        self._process = subprocess.Popen(
            [
                *(str(binary.path), "-c", str(config), "-p", str(self.folder)),
                *("-e", f"{self.folder}/log", "-g", "daemon off;"),
            ],
            env={**os.environ, **binary.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._until_it_answers()

    def _until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                httpx.get(f"{self.url}/healthz", timeout=2)
            except httpx.TransportError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    log = self.folder / "log"
                    said = log.read_text()[-500:] if log.exists() else "it said nothing"
                    self.stop()
                    raise ServiceMissing(f"nginx does not answer: {said}") from None
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(START_SECONDS)
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
