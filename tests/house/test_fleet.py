"""`make fleet`'s command: several workers at once, each told of, none left behind."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.api.running import OWN, PROJECT
from tests.services import free_port, scratch

WORKERS = 2
PID = re.compile(r"python(?:3[.\d]*)? -m app serve")


def _first_of_free_ports() -> int:
    """The first of `WORKERS` ports in a row that nobody uses."""
    while True:
        first = free_port()
        try:
            for port in range(first, first + WORKERS):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first


@contextmanager
def _fleet(port: int, folder: Path) -> Generator["subprocess.Popen[str]"]:
    environment = {name: os.environ[name] for name in OWN if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "fleet"],
        cwd=PROJECT,
        env={
            **environment,
            "ENV_FILE": os.devnull,
            "DATA_DIR": str(folder),
            "PORT": str(port),
            "WORKERS": str(WORKERS),
            "LEASE_SECONDS": "3",
            "DRAIN_SECONDS": "5",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(40)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _line(process: "subprocess.Popen[str]", part: str) -> str:
    """The next line of its output that has the part."""
    assert process.stdout is not None
    for line in process.stdout:
        if part in line:
            return line
    raise AssertionError(f"no line with {part!r}: {process.stderr and process.stderr.read()}")


def _workers_of(port: int) -> list[int]:
    """Process ids of the workers that serve on the port; from /proc."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if PID.search(command) and f"PORT={port}\0".encode() in environment:
            found.append(int(entry.name))
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    made = scratch("fleet")
    yield made
    subprocess.run(["rm", "-rf", str(made)], check=True)


def test_a_fleet_comes_up_heals_and_goes_down_as_one(folder: Path) -> None:
    port = _first_of_free_ports()
    with _fleet(port, folder) as process:
        assert str(port + 1) in _line(process, "workers are ready")
        for place in range(WORKERS):
            answer = httpx.get(f"http://127.0.0.1:{port + place}/readyz", timeout=10)
            assert answer.status_code == 200, answer.text
        second = subprocess.run(
            [sys.executable, "-m", "app", "fleet"],
            cwd=PROJECT,
            env={**os.environ, "ENV_FILE": os.devnull, "DATA_DIR": str(folder), "PORT": str(port)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert second.returncode == 1
        assert second.stderr.startswith("PORT: a worker cannot listen")
        assert second.stderr.count("\n") == 1

        (killed,) = _workers_of(port)
        os.kill(killed, signal.SIGKILL)
        assert "started again" in _line(process, "worker 1 ended")
        _line(process, "worker 1: Ready on")
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=10).status_code == 200

        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    deadline = time.monotonic() + 5
    while any(_workers_of(port + place) for place in range(WORKERS)):
        assert time.monotonic() < deadline, "a worker was left behind"
        time.sleep(0.05)
    assert _first_pid(folder) is None, "the Postgres of the fleet was left behind"


def _first_pid(folder: Path) -> int | None:
    """The process id in a pid file below, if that process is alive."""
    for file in folder.rglob("postmaster.pid"):
        pid = int(file.read_text().split()[0])
        if Path(f"/proc/{pid}").exists():
            return pid
    return None
