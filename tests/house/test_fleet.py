"""`make fleet`'s command: several workers at once, each told of, none left behind."""

import fcntl
import os
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
from tests.services import databases, free_port, redis_server, scratch

WORKERS = 2


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


def _environment(port: int, folder: Path, **more: str) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in OWN if name in os.environ},
        "ENV_FILE": os.devnull,
        "DATA_DIR": str(folder),
        "PORT": str(port),
        "WORKERS": str(WORKERS),
        "LEASE_SECONDS": "3",
        "DRAIN_SECONDS": "5",
        **more,
    }


@contextmanager
def _fleet(port: int, folder: Path, **more: str) -> Generator["subprocess.Popen[str]"]:
    with (folder / "errors").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "fleet"],
            cwd=PROJECT,
            env=_environment(port, folder, **more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(40)
        if process.stdout is not None:
            process.stdout.close()


def _refusal(port: int, folder: Path, **more: str) -> str:
    """The one line in which a fleet that cannot be says so."""
    done = subprocess.run(
        [sys.executable, "-m", "app", "fleet"],
        cwd=PROJECT,
        env=_environment(port, folder, **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1, done
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def _line(process: "subprocess.Popen[str]", part: str) -> str:
    """The next line of its output that has the part."""
    assert process.stdout is not None
    for line in process.stdout:
        if part in line:
            return line
    raise AssertionError(f"no line with {part!r}")


def _of(folder: Path, more: str = "") -> list[str]:
    """Processes that stand in the folder or have it, and `more`, in their environment: id and
    command; from /proc."""
    marks = {f"DATA_DIR={folder}".encode(), more.encode()}
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            inside = not more and (entry / "cwd").readlink().is_relative_to(folder)
            environment = {*(entry / "environ").read_bytes().split(b"\0"), b""}
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if inside or marks <= environment:
            found.append(f"{entry.name} {command}")
    return found


def _nothing_left(folder: Path) -> None:
    deadline = time.monotonic() + 5
    while left := _of(folder):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    with (folder / "fleet.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
        assert _refusal(port, folder).startswith("PORT: a worker cannot listen")
        other = _first_of_free_ports()
        assert _refusal(other, folder).startswith("DATA_DIR: a fleet already runs")

        kinds = " ".join(_of(folder))
        assert all(kind in kinds for kind in ("app serve", "redis-server", "postgres")), kinds
        (worker,) = (line for line in _of(folder, f"PORT={port}") if "app serve" in line)
        os.kill(int(worker.split()[0]), signal.SIGKILL)
        assert "with -9; started again" in _line(process, "worker 1 ended")
        _line(process, "worker 1: Ready on")
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=10).status_code == 200

        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    _nothing_left(folder)


def test_a_signal_while_it_starts_leaves_nothing(folder: Path) -> None:
    with _fleet(_first_of_free_ports(), folder) as process:
        # Postgres is being made: the first of all that a fleet starts.
        deadline = time.monotonic() + 30
        while not (folder / "postgres").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    _nothing_left(folder)


def test_a_database_and_a_redis_of_ones_own_are_used(folder: Path) -> None:
    url = databases().fresh()
    own = {"DATABASE_URL": url, "REDIS_URL": redis_server().url, "REDIS_PREFIX": "own-fleet:"}
    with _fleet(_first_of_free_ports(), folder, WORKERS="1", **own) as process:
        _line(process, "1 workers are ready")
        assert not (folder / "postgres").exists()
        assert not (folder / "redis").exists()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    _nothing_left(folder)
    databases().drop(url)


def test_a_worker_that_refuses_to_start_ends_the_fleet(folder: Path) -> None:
    nowhere = {"DATABASE_URL": "postgresql://u@127.0.0.1:1/x", "REDIS_URL": redis_server().url}
    with _fleet(_first_of_free_ports(), folder, **nowhere) as process:
        assert process.wait(60) == 1
    said = (folder / "errors").read_text().splitlines()
    assert said[-1].endswith("refused to start, see above")
    assert any(line.startswith("DATABASE_URL: cannot connect") for line in said)
    _nothing_left(folder)
