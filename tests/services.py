"""Real services for tests, each started at its first use and stopped when the tests end.

A service that cannot be had fails the test that wants it, with a reason; nothing is skipped.
"""

import atexit
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from app.embedded import EmbeddedPostgres
from app.postmaster import PidFile, end
from app.redis_server import LocalRedis
from registry.errors import StartRefused

PROJECT = Path(__file__).resolve().parent.parent
START_SECONDS = 10
UNPACK_SECONDS = 120


class ServiceMissing(RuntimeError):
    """A service that the tests need is not on this machine; the text says what to install."""


def free_port() -> int:
    """A TCP port of the loopback interface that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def scratch(name: str) -> Path:
    """A folder for one test or service; whoever asked for it removes it."""
    folder = Path(tempfile.mkdtemp(prefix=f"research-{name}-"))
    folder.chmod(0o755)  # under root the server is another user and has to walk through
    return folder


class Databases:
    """Fresh databases on one embedded server that need not survive a power cut."""

    def __init__(self) -> None:
        self._folder = scratch("postgres")
        self._server = EmbeddedPostgres.start(self._folder, durable=False)
        self._numbers = itertools.count(1)
        self._templates: dict[str, str] = {}

    @property
    def url(self) -> str:
        """The server's own database: for administration, not for tests to write in."""
        return self._server.url

    def fresh(self, prepare: Callable[[str], None] | None = None) -> str:
        """The URL of a new database. `prepare(url)` fills a template once, by the function's
        name; every database asked for with it is a copy of that template (about 20 ms)."""
        template = "template0"
        if prepare is not None:
            key = f"{prepare.__module__}.{prepare.__qualname__}"
            if key not in self._templates:
                made = self._create("template0")
                prepare(self._url_of(made))
                self._templates[key] = made
            template = self._templates[key]
        return self._url_of(self._create(template))

    def drop(self, url: str) -> None:
        """Removes a database, whoever is still connected to it."""
        name = urlsplit(url).path.lstrip("/")
        self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def restart(self) -> None:
        """A fast shutdown, which cuts all clients, and a start in the same place. Blocks."""
        folder = self._folder / "postgres"
        found = PidFile.read(folder)
        if found is not None:
            end(found.pid, folder)
        before, self._server = self._server, EmbeddedPostgres.start(self._folder, durable=False)
        before.stop()  # the new one uses the server: it stays

    def stop(self) -> None:
        self._server.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _create(self, template: str) -> str:
        name = f"test_{next(self._numbers)}"
        statement = "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY"
        self._run(sql.SQL(statement).format(sql.Identifier(name), sql.Identifier(template)))
        return name

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(
            self.url, autocommit=True, connect_timeout=START_SECONDS
        ) as connection:
            connection.execute(statement)

    def _url_of(self, name: str) -> str:
        return self.url.replace("@/postgres?", f"@/{name}?", 1)


class RedisServer:
    """A Redis of its own on a random port, in memory only."""

    def __init__(self) -> None:
        self._folder = scratch("redis")
        self.port = free_port()
        self._start()

    def _start(self) -> None:
        try:
            self._server = LocalRedis(self._folder, self.port)
        except StartRefused as error:
            raise ServiceMissing(str(error)) from None
        self._process = self._server.process

    def kill(self) -> None:
        """SIGKILL: all that it held is gone, and its port refuses."""
        self._process.kill()
        self._process.wait(timeout=START_SECONDS)

    def freeze(self) -> None:
        """SIGSTOP: the kernel still accepts for it, and nothing answers."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """An empty one on the same port, where the last is dead."""
        if self._process.poll() is not None:
            self._start()

    @property
    def url(self) -> str:
        return self._server.url

    def stop(self) -> None:
        self._server.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Chromium:
    """A headless browser: `path` to run with `args`, with `env` over the environment."""

    path: Path
    env: dict[str, str] = field(default_factory=dict[str, str])
    args: tuple[str, ...] = (
        *("--no-sandbox", "--disable-background-networking"),
        *("--disable-component-update", "--disable-sync"),
    )


@cache
def chromium() -> Chromium:
    """From the PATH, else the npm package of `frontend/`, unpacked once per version."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return Chromium(Path(found))
    package = PROJECT / "frontend" / "node_modules" / "@sparticuz" / "chromium"
    if not package.is_dir():
        raise ServiceMissing("no chromium on the PATH and none in frontend/node_modules: npm ci")
    version = json.loads((package / "package.json").read_text())["version"]
    home = PROJECT / ".tools" / f"chromium-{version}"
    if not (home / "chromium").is_file():
        _unpack(home)
    fonts = home / "fonts" / "fonts.conf"
    fonts.write_text(
        f'<?xml version="1.0"?>\n<fontconfig><dir>{home}/fonts</dir><dir>/usr/share/fonts</dir>'
        f"<cachedir>{home}/fonts-cache</cachedir></fontconfig>\n"
    )
    libraries = [str(home / "al2023" / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return Chromium(
        home / "chromium",
        {
            "LD_LIBRARY_PATH": ":".join(part for part in libraries if part),
            "FONTCONFIG_FILE": str(fonts),
        },
    )


def _unpack(home: Path) -> None:
    """The package unpacks into the temporary folder and brings its libraries only where it
    believes to run in a function service; so it is told both."""
    node = shutil.which("node")
    if node is None:
        raise ServiceMissing("no node on the PATH: run the tests with `make test`")
    home.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="chromium-", dir=home.parent))
    script = "import c from '@sparticuz/chromium'; await c.executablePath();"
    subprocess.run(
        [node, "--input-type=module", "-e", script],
        check=True,
        cwd=PROJECT / "frontend",
        env={**os.environ, "TMPDIR": str(fresh), "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs22.x"},
        timeout=UNPACK_SECONDS,
    )
    shutil.rmtree(home, ignore_errors=True)
    fresh.rename(home)


@cache
def databases() -> Databases:
    """The one Postgres of this test run."""
    made = Databases()
    atexit.register(made.stop)
    return made


@cache
def redis_server() -> RedisServer:
    """The one Redis of this test run; flush it, or use a prefix of your own."""
    made = RedisServer()
    atexit.register(made.stop)
    return made


def postgres_url() -> str:
    """The server's own database: for administration."""
    return databases().url


def chromium_path() -> Path:
    return chromium().path
