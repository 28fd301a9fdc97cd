"""pgbouncer in transaction mode before a database of the test server."""

import os
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.daemon import Daemon
from tests.debian import server
from tests.services import free_port


class Pooler(Daemon):
    """Between construction and `stop`; `url` is the database through it. `size`: server
    connections in all; one that was idle for five seconds is closed."""

    def __init__(self, database_url: str, *, size: int = 3) -> None:
        binary = server("pgbouncer", "pgbouncer", "libevent-2.1-7", "libc-ares2")
        behind = conninfo_to_dict(database_url)
        super().__init__("pgbouncer")
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
        self.launch(
            [str(binary.path), str(self.folder / "pgbouncer.ini")],
            env=binary.env,
            answers=self._answers,
            user=user,
            group=group,
        )

    def _as_the_database(self, socket_dir: str) -> tuple[int | None, int | None]:
        """User and group: it refuses to run as root, and only the server's own user may
        reach the server's socket."""
        if os.geteuid() != 0:
            return None, None
        owner = Path(socket_dir).stat()
        for path in (self.folder, *self.folder.iterdir()):
            os.chown(path, owner.st_uid, owner.st_gid)
        return owner.st_uid, owner.st_gid

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True
