"""An embedded Postgres: started by the first process that needs it, stopped by the last.

1. Users of a data folder hold a shared kernel lock on `postgres.users`. A lock dies with its
   process, so a kill -9 leaves no wrong count.
2. Every start and stop happens under an exclusive lock on `postgres.start`.
3. Whoever can turn the users' lock into an exclusive one is the last, and stops the server.
4. The server is nobody's child and in a session of its own: Ctrl-C does not reach it, and the
   process that started it may leave first.
5. A server left running by a kill -9 is attached to; a dead one's leftovers are cleared.
"""

import atexit
import fcntl
import os
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import structlog

from app.cluster import SOCKET, Cluster
from app.postmaster import START_SECONDS, PidFile, alive, end, last_words, serves, settled, until
from registry.errors import StartRefused

LOCK_SECONDS = 90  # how long another process may take to start or stop the server
ORPHAN_SECONDS = 10  # backends of a killed server end by themselves, soon
LOG_BYTES_MAX = 8 * 1024 * 1024

log = structlog.get_logger()


class EmbeddedPostgres:
    """One process's use of the server of a data folder. Made by `start`, given back by `stop`."""

    def __init__(self, data_dir: Path, *, durable: bool = True) -> None:
        self._data_dir = data_dir.absolute()
        self._durable = durable
        self._users: int | None = None
        self._socket_dir = ""

    @classmethod
    def start(cls, data_dir: Path, *, durable: bool = True) -> Self:
        """Starts the server of `data_dir`, or joins the one that runs. Blocks up to a second
        as a rule, a minute after a crash. `durable=False` is for tests. Raises `StartRefused`.
        """
        server = cls(data_dir, durable=durable)
        try:
            server._open()
        except BaseException:  # also Ctrl-C in the middle: leave no server without a user
            server.stop()
            raise
        # For a start whose caller was cancelled while a thread ran it: nobody else holds it.
        atexit.register(server.stop)
        return server

    @property
    def url(self) -> str:
        """For psycopg: a Unix socket, no TCP, no password."""
        return f"postgresql://postgres@/postgres?host={quote(self._socket_dir, safe='')}&port=5432"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _open(self) -> None:
        try:
            self._data_dir.mkdir(parents=True, exist_ok=True)
            gate = self._lock_file("postgres.start")
        except (FileExistsError, NotADirectoryError):
            path = self._data_dir
            file = next((p for p in (path, *path.parents) if p.exists() and not p.is_dir()), path)
            raise StartRefused(
                f"The data folder cannot be made, {file} is a file: move it away, or set DATA_DIR"
            ) from None
        except OSError as error:
            raise StartRefused(self._unwritable(error)) from None
        try:
            self._take(gate)
            self._users = self._lock_file("postgres.users")
            fcntl.flock(self._users, fcntl.LOCK_SH)
            self._ensure()
        except OSError as error:
            raise StartRefused(self._unwritable(error)) from None
        finally:
            os.close(gate)

    def _unwritable(self, error: OSError) -> str:
        return (
            f"Cannot write the data folder {self._data_dir} ({error.strerror}): "
            "free space or mend the rights, or set DATA_DIR"
        )

    def _lock_file(self, name: str) -> int:
        path = self._data_dir / name
        fresh = not path.exists()
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        owner = self._data_dir.stat()
        if fresh and os.geteuid() == 0 and owner.st_uid != 0:
            os.fchown(fd, owner.st_uid, owner.st_gid)
        return fd

    def _take(self, gate: int) -> None:
        def free() -> bool:
            try:
                fcntl.flock(gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        if not until(free, LOCK_SECONDS):
            raise StartRefused(
                f"Another process has been starting or stopping the database in {self._data_dir} "
                f"for {LOCK_SECONDS} s: see postgres.log there, end that process, start again"
            )

    def _ensure(self) -> None:
        """Under the gate: joins a ready server, waits for a half-started one, or starts one."""
        cluster = Cluster(self._data_dir, durable=self._durable)
        cluster.check_owner()
        found = PidFile.read(cluster.folder)
        if found and serves(found.pid, cluster.folder):
            now = settled(cluster.folder)
            if now and now.status == "ready" and Path(now.socket_dir, SOCKET).exists():
                self._socket_dir = now.socket_dir
                log.info("postgres_joined", pid=now.pid)
                return
            end(found.pid, cluster.folder)
        self._launch(cluster)

    def _launch(self, cluster: Cluster) -> None:
        began = time.monotonic()
        cluster.prepare()
        clear_leftovers(cluster)
        deadline = time.monotonic() + ORPHAN_SECONDS
        while not self._spawn(cluster):
            said = last_words(cluster.log_file)
            if "shared memory block" not in said or time.monotonic() > deadline:
                raise StartRefused(
                    f"Postgres did not start in {cluster.folder}: {said}. "
                    f"More is in {cluster.log_file}"
                )
            time.sleep(0.2)
        self._socket_dir = str(cluster.socket_dir)
        log.info("postgres_started", ms=round(1000 * (time.monotonic() - began)))

    def _spawn(self, cluster: Cluster) -> bool:
        """One try to start the server; True once it takes connections, False once it is dead."""
        # The shell leaves at once, so the server is nobody's child and no zombie of ours.
        script = '"$@" >&2 & echo $!'
        program = str(cluster.install / "bin" / "postgres")
        if cluster.log_file.exists() and cluster.log_file.stat().st_size > LOG_BYTES_MAX:
            cluster.log_file.replace(cluster.log_file.with_suffix(".log.1"))
        with cluster.log_file.open("ab") as out:
            cluster.account.give(cluster.log_file)
            started = subprocess.run(  # noqa: S603 - our binary, our arguments
                ["/bin/sh", "-c", script, "sh", program, "-D", str(cluster.folder)],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=out,
                timeout=START_SECONDS,
                **cluster.account.options(),
            )
        pid = int(started.stdout)

        def ready() -> bool:
            now = PidFile.read(cluster.folder)
            return now is not None and now.pid == pid and now.status == "ready"

        until(lambda: ready() or not alive(pid), START_SECONDS)
        if ready():
            return True
        if alive(pid):
            raise StartRefused(
                f"Postgres is still recovering {cluster.folder} after {START_SECONDS} s: "
                f"see {cluster.log_file}, then start again"
            )
        return False

    def stop(self) -> None:
        """Gives the server back; the last user stops it. Safe to call twice."""
        atexit.unregister(self.stop)
        users, self._users = self._users, None
        if users is None:
            return
        try:
            gate = self._lock_file("postgres.start")
        except OSError:  # the folder was removed under us: only the server itself is left
            os.close(users)
            return
        try:
            self._take(gate)
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            folder = self._data_dir / "postgres"
            found = PidFile.read(folder)
            if found and serves(found.pid, folder):
                end(found.pid, folder)
                log.info("postgres_stopped")
        finally:
            os.close(users)
            os.close(gate)


def clear_leftovers(cluster: Cluster) -> None:
    """Makes the files of a dead server harmless. Called only when none serves the folder."""
    for name in (SOCKET, f"{SOCKET}.lock"):
        (cluster.socket_dir / name).unlink(missing_ok=True)
    stale = cluster.folder / "postmaster.pid"
    if PidFile.read(cluster.folder) is None:
        stale.unlink(missing_ok=True)
        return
    # The number may belong to a stranger by now, or to a zombie, and Postgres would refuse.
    # The file stays, as Postgres finds in it the memory that backends of the dead server may
    # still hold; only the number becomes that of a process which has just ended.
    gone = subprocess.Popen(["/bin/sh", "-c", ":"])
    gone.wait(timeout=10)
    lines = stale.read_text().splitlines()
    stale.write_text("\n".join([str(gone.pid), *lines[1:]]) + "\n")
