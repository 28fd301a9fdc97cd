"""The project's nginx configuration, served by a real nginx before a worker under test."""

import re

import httpx

from tests.daemon import Daemon
from tests.debian import server
from tests.services import PROJECT, free_port


class Nginx(Daemon):
    """`deploy/nginx.conf` as it is, but for addresses, folders and `read_timeout` in seconds."""

    def __init__(self, upstream: str, *, read_timeout: float) -> None:
        binary = server("nginx", "nginx-light", "nginx", "nginx-common")
        super().__init__("nginx")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        text = (PROJECT / "deploy" / "nginx.conf").read_text()
        for pattern, value in (
            (r"worker_processes auto;", "worker_processes 1; master_process off;"),
            (r"listen 80;", f"listen 127.0.0.1:{port};"),
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
        self.launch(
            [
                *(str(binary.path), "-c", str(config), "-p", str(self.folder)),
                *("-e", f"{self.folder}/log", "-g", "daemon off;"),
            ],
            env=binary.env,
            answers=self._answers,
        )

    def _answers(self) -> bool:
        try:
            httpx.get(f"{self.url}/healthz", timeout=2)
        except httpx.TransportError:
            return False
        return True
