"""The server process of a Postgres data folder, found by its pid file and judged by the kernel."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 60  # crash recovery included
STOP_SECONDS = 30  # then the harder signal
_TICK = 0.01
_COMPLAINTS = ("FATAL: ", "LOG:  invalid value for ", "LOG:  unrecognized ", "LOG:  could not ")


@dataclass(frozen=True, slots=True)
class PidFile:
    """`postmaster.pid`: what the running, or the last, server said of itself."""

    pid: int
    socket_dir: str
    status: str  # starting, ready, stopping

    @classmethod
    def read(cls, folder: Path) -> "PidFile | None":
        try:
            lines = (folder / "postmaster.pid").read_text().splitlines()
            pid = int(lines[0])
        except (FileNotFoundError, NotADirectoryError, IndexError, ValueError):
            return None
        lines += [""] * (8 - len(lines))
        return cls(pid, lines[4], lines[7].strip())


def until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_TICK)
    return True


def alive(pid: int) -> bool:
    """False also for a zombie, which a careless init may keep for ever."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return not sys.platform.startswith("linux")


def serves(pid: int, folder: Path) -> bool:
    """Whether the process is the server of this folder, and not a later owner of its number."""
    if not alive(pid):
        return False
    if sys.platform.startswith("linux"):
        try:
            return Path(f"/proc/{pid}/cwd").samefile(folder)
        except OSError:
            return False
    shown = subprocess.run(  # noqa: S603
        ["/bin/ps", "-o", "command=", "-p", str(pid)],
        check=False,
        capture_output=True,
        text=True,
        timeout=10,
    )
    return str(folder) in shown.stdout


def settled(folder: Path) -> PidFile | None:
    """Waits while the server starts or stops; None once it is gone."""

    def quiet() -> bool:
        now = PidFile.read(folder)
        return now is None or now.status == "ready" or not serves(now.pid, folder)

    until(quiet, START_SECONDS)
    return PidFile.read(folder)


def end(pid: int, folder: Path) -> None:
    """A fast shutdown: clients are cut, all is written; the immediate one if that hangs."""
    for sign in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if not serves(pid, folder):
            return
        os.kill(pid, sign)
        if until(lambda: not alive(pid), STOP_SECONDS):
            return


def last_words(log_file: Path) -> str:
    """Why the server ended: the complaints that its log closes with."""
    with log_file.open("rb") as file:
        file.seek(max(0, log_file.stat().st_size - 4096))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines()]
    fatal = [n for n, line in enumerate(lines) if "FATAL:" in line]
    if not fatal:
        return next((line for line in reversed(lines) if line), "it gave no reason")
    # A bad setting is named in a line before, and the FATAL one only counts the errors.
    process = re.search(r"\[\d+\]", lines[fatal[-1]])
    near = lines[max(0, fatal[-1] - 3) : fatal[-1] + 1]
    near = [line for line in near if process and process[0] in line]
    said = [
        line.partition(mark)[2].strip() for line in near for mark in _COMPLAINTS if mark in line
    ]
    return "; ".join(said)
