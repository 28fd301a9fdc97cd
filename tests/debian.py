"""Servers out of Debian's packages, for tests: from the PATH, else unpacked without root."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.services import PROJECT, ServiceMissing

HOME = PROJECT / ".tools" / "debian"
SECONDS = 120
SYSTEM = ("/usr/sbin", "/usr/local/sbin", "/sbin")  # where servers are, whatever the PATH says


@dataclass(frozen=True, slots=True)
class Binary:
    """`path` to run, with `env` over the environment."""

    path: Path
    env: dict[str, str]


@cache
def server(name: str, package: str, *libraries: str) -> Binary:
    """The server `name`; where it is not installed, `package` and the libraries it needs are
    unpacked under `.tools`. Raises `ServiceMissing`."""
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(SYSTEM))
    if found:
        return Binary(Path(found), {})
    folder = HOME / package
    binaries = list(folder.glob(f"usr/sbin/{name}"))
    if not binaries:
        _unpack(folder, package, *libraries)
        binaries = list(folder.glob(f"usr/sbin/{name}"))
    if not binaries:
        raise ServiceMissing(f"no {name} on the PATH and none in {package}: install it")
    paths = [str(path) for path in folder.glob("usr/lib/*-linux-gnu")]
    return Binary(binaries[0], {"LD_LIBRARY_PATH": os.pathsep.join(paths)})


def _unpack(folder: Path, *packages: str) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise ServiceMissing(f"no {packages[0]} on the PATH: install it, then run the tests again")
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:  # only root may fetch the lists; without them the next step says so
        _run(folder, "apt-get", "update", "-qq")
    _run(folder, "apt-get", "download", "-qq", *packages)
    for file in folder.glob("*.deb"):
        _run(folder, "dpkg", "-x", str(file), str(folder))


def _run(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        # Downloads are left to a user that could not write here.
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "APT_CONFIG": os.devnull},
    )
    if done.returncode != 0:
        reason = " ".join((done.stderr or done.stdout).split())[-200:]
        raise ServiceMissing(f"{' '.join(command[:2])}: {reason}: install {folder.name}")
