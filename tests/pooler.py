"""pgbouncer in transaction mode before a database of the test server."""

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.debian import server
from tests.services import ServiceMissing, free_port, scratch

START_SECONDS = 10


class Pooler:
    """Between construction and `stop`; `url` is the database through it. `size`: server
    connections in all; one that was idle for five seconds is closed."""

    def __init__(self, database_url: str, *, size: int = 3) -> None:
        binary = server("pgbouncer", "pgbouncer", "libevent-2.1-7", "libc-ares2")
        behind = conninfo_to_dict(database_url)
        self.folder = scratch("pgbouncer")
        self.port = free_port()
        self.url = f"postgresql://{behind['user']}@127.0.0.1:{self.port}/{behind['dbname']}"
        (self.folder / "users.txt").write_text(f'"{behind["user"]}" ""\n')
        port = f" port={behind['port']}" if behind.get("port") else ""
        lines = [
            "[databases]",
            f"{behind['dbname']} = host={behind['host']}{port} dbname={behind['dbname']}",
            "[pgbouncer]",
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =",
            f"auth_type = trust\nauth_file = {self.folder}/users.txt",
            f"pool_mode = transaction\ndefault_pool_size = {size}\nmax_client_conn = 500",
            "server_idle_timeout = 5\nignore_startup_parameters = extra_float_digits",
            f"logfile = {self.folder}/log\npidfile =",
        ]
        (self.folder / "pgbouncer.ini").write_text("\n".join(lines) + "\n")
        user, group = self._as_the_database(str(behind["host"]))
        self._process = subprocess.Popen(
            [str(binary.path), str(self.folder / "pgbouncer.ini")],
            env={**os.environ, **binary.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            user=user,
            group=group,
        )
        self._until_it_answers()

    def _as_the_database(self, socket_dir: str) -> tuple[int | None, int | None]:
        """User and group: it refuses to run as root, and only the server's own user may
        reach the server's socket."""
        if os.geteuid() != 0:
            return None, None
        owner = Path(socket_dir).stat()
        for path in (self.folder, *self.folder.iterdir()):
            os.chown(path, owner.st_uid, owner.st_gid)
        return owner.st_uid, owner.st_gid

    def _until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    log = self.folder / "log"
                    said = log.read_text()[-500:] if log.exists() else str(error)
                    self.stop()
                    raise ServiceMissing(f"pgbouncer does not answer: {said}") from None
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
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
