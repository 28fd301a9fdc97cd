"""Commands that set-up runs: their output goes to a log, a failure becomes one line."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TOOLS = PROJECT / ".tools"
LOG = TOOLS / "setup.log"
LIMIT_SECONDS = 1800


class SetupFailed(Exception):
    """One line: what could not be done, why, what to do."""


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


def execute(
    what: str,
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = PROJECT,
    advice: str = "check the network and the settings of the package index",
) -> None:
    """Runs one step of the set-up and says how long it took; raises `SetupFailed`."""
    say(f"{what} ...")
    began = time.monotonic()
    TOOLS.mkdir(exist_ok=True)
    with LOG.open("ab") as log:
        start = log.tell()
        try:
            code = subprocess.run(
                [str(part) for part in command],
                check=False,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_SECONDS,
            ).returncode
        except subprocess.TimeoutExpired:
            raise SetupFailed(f"{what}: no end after {LIMIT_SECONDS // 60} min: {advice}") from None
        except OSError as error:
            raise SetupFailed(f"{what}: {error}") from None
    if code != 0:
        raise SetupFailed(f"{what}: {_cause(start)} - {advice}; the whole output is in {LOG}")
    say(f"{what}: done in {time.monotonic() - began:.1f} s")


def _cause(start: int) -> str:
    """The line of the output that tells most: the last that speaks of an error."""
    with LOG.open("rb") as log:
        log.seek(start)
        text = log.read().decode(errors="replace")
    lines = [line.strip(" │├╰─▶×╭╮\t") for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "caused by" in line.lower()]
    return (telling or lines or ["it failed without a word"])[-1][:300]
