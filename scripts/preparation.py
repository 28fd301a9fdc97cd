"""What each make target needs, in order; then the command that was asked for."""

import fcntl
import os
import sys

from commands import PROJECT, TOOLS, SetupFailed, say
from page import Page
from python_packages import PythonPackages

# Target: the level of Python packages, whether npm packages, whether the built page.
TARGETS = {
    "run": ("run", False, True),
    "fleet": ("run", False, True),
    "migrate": ("run", False, False),
    "bench": ("dev", False, True),
    "check": ("dev", True, False),
    "test": ("dev", True, True),
    "soak": ("dev", False, True),
}
WITH_REDIS = ("bench", "fleet", "soak", "test")


def prepare(arguments: list[str]) -> int:
    """Sets up a target and becomes its command; the exit status where it does not."""
    target, *rest = arguments or ["help"]
    command = rest[1:] if rest[:1] == ["--"] else []
    os.chdir(PROJECT)
    try:
        environment = _set_up(target, rest)
    except SetupFailed as failed:
        print(f"setup: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; the next start goes on from here", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"setup: {error.filename or PROJECT}: {error.strerror}", file=sys.stderr)
        return 1
    if not command:
        return 0
    try:
        os.execvpe(command[0], command, {**os.environ, **environment})
    except OSError as error:
        print(f"setup: cannot run {command[0]}: {error.strerror}", file=sys.stderr)
        return 127


def _set_up(target: str, rest: list[str]) -> dict[str, str]:
    packages = PythonPackages()
    page = Page(packages)
    with _alone():
        if target == "lock":
            packages.lock(*rest)
            return {}
        if target not in TARGETS:
            raise SetupFailed(f"no target {target!r}: one of lock, {', '.join(sorted(TARGETS))}")
        level, npm, built = TARGETS[target]
        packages.install("dev" if level == "dev" else "run")
        if npm:
            page.install()
        if built:
            page.build()
        if target in WITH_REDIS:
            packages.redis()
        return page.environment if npm or built else {}


class _alone:  # noqa: N801 - reads as a word where it is used
    """Two makes at once take turns; the lock dies with its process."""

    def __enter__(self) -> None:
        TOOLS.mkdir(exist_ok=True)
        self._file = (TOOLS / "setup.lock").open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up is at work here, waiting for it ...")
            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()
