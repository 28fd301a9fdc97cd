"""The process: what it refuses to start with, how it ends, what it leaves behind."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from app.command import main
from app.settings import Settings
from tests.api.reading import start, state
from tests.api.running import Running, run_app
from tests.services import free_port

QUESTION = "Where should a hive stand in a garden?"


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No settings of the machine's own."""
    for name in list(os.environ):
        if name.lower() in Settings.model_fields:
            monkeypatch.delenv(name)
    monkeypatch.setenv("ENV_FILE", os.devnull)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return monkeypatch


def _refused(done: subprocess.CompletedProcess[str], code: int, word: str) -> None:
    """One line on stderr that names what is wrong, and nothing else."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert (done.returncode, len(lines)) == (code, 1), done.stderr
    assert word in lines[0]
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_one_line(tmp_path: Path, database_url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        settings = {"PORT": port, "DATA_DIR": str(tmp_path), "DATABASE_URL": database_url}
        began = time.perf_counter()
        _refused(run_app("serve", settings=settings), 1, f"127.0.0.1:{port}")
        assert time.perf_counter() - began < 15
    assert list(tmp_path.iterdir()) == []


def _said(capsys: pytest.CaptureFixture[str], word: str) -> None:
    """The command said one line on stderr, with the word in it."""
    out, errors = capsys.readouterr()
    assert (out, len(errors.splitlines())) == ("", 1)
    assert word in errors


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("PORT", "abc", "PORT"),
        ("PORT", "70000", "PORT"),
        ("HOST", "0.0.0.0", "HOST"),
        ("API_KEYS", "ann", "name:secret"),
        ("MODEL", "m", "MODEL"),
        ("HEARTBEAT_SECONDS", "0", "HEARTBEAT_SECONDS"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL"),
    ],
)
def test_a_wrong_setting_is_one_line(
    clean: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, word: str
) -> None:
    clean.setenv(name, value)
    assert main(["serve"]) == 2
    _said(capsys, word)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "give a question"),
        (("",), "question"),
        (("  ",), "question"),
        (("x" * 8001,), "question"),
        (("--resume", "nope"), "nope"),
        (("a", "--resume", "nope"), "give a question"),
        (("a", "--language", "no such"), "language"),
        (("a", "--out", "/no/such/folder/x.md"), "--out"),
        (("a", "--out", "/"), "--out"),
    ],
)
def test_a_wrong_ask_is_one_line(
    clean: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    word: str,
) -> None:
    assert main(["ask", *arguments]) == 2
    _said(capsys, word)


def test_an_unknown_command_is_a_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nothing"])
    assert ended.value.code == 2
    assert "usage: python -m app" in capsys.readouterr().err


def test_a_host_that_is_not_ours_is_one_line(tmp_path: Path) -> None:
    settings = {"HOST": "no.such.host.invalid", "ALLOW_ANONYMOUS": "1"}
    _refused(run_app("serve", settings={"DATA_DIR": str(tmp_path), **settings}), 1, "HOST")


def test_a_database_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    url = f"postgresql://nobody@127.0.0.1:{free_port()}/none"
    settings = {"PORT": "0", "DATA_DIR": str(tmp_path), "DATABASE_URL": url}
    _refused(run_app("serve", settings=settings), 1, "DATABASE_URL")


def test_a_file_in_place_of_the_data_folder_is_one_line(tmp_path: Path) -> None:
    blocked = tmp_path / "data"
    blocked.write_text("a file")
    _refused(run_app("serve", settings={"PORT": "0", "DATA_DIR": str(blocked)}), 1, "DATA_DIR")


def test_a_documents_folder_that_is_not_there_is_one_line(
    tmp_path: Path, database_url: str
) -> None:
    settings = {
        "PORT": "0",
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": database_url,
        "DOCUMENTS_DIR": str(tmp_path / "nowhere"),
    }
    _refused(run_app("serve", settings=settings), 1, "DOCUMENTS_DIR")


def test_a_second_worker_on_the_database_is_one_line(server: Running) -> None:
    settings = {**server.environment, "PORT": "0"}
    _refused(run_app("serve", settings=settings), 1, "another worker")


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_it_starts_ends_the_start(tmp_path: Path, sig: signal.Signals) -> None:
    """The database is a socket that never answers: the start hangs in the connect."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none"
        environment = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "PORT": "0",
            "DATA_DIR": str(tmp_path),
            "DATABASE_URL": url,
            "ENV_FILE": os.devnull,
        }
        process = subprocess.Popen(
            [".venv/bin/python", "-m", "app", "serve"],
            env=environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        silent.settimeout(20)
        connection, _ = silent.accept()
        process.send_signal(sig)
        _, errors = process.communicate(timeout=20)
        connection.close()
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "Stopped before it was done."
    assert "Traceback" not in errors


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_after_any_end_the_next_start_has_everything(
    database_url: str, sig: signal.Signals
) -> None:
    with Running(database_url) as made:
        async with made.client() as client:
            thread = await start(client, QUESTION)
            before = await client.get(f"/api/threads/{thread}")
            assert before.status_code == 200
        code = made.stop(sig)
        assert code == (-sig if sig is signal.SIGKILL else 0)
        made.restart()
        async with made.client() as client:
            seen = await state(client, thread)
            assert seen["question"] == QUESTION
            assert seen["status"] in ("pending", "running", "waiting")
        log = made.log.read_text()
        assert "Traceback" not in log
        assert QUESTION not in log


async def test_probes_and_pages(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    assert (await client.get("/readyz")).json() == {"status": "ready"}
    probe = await client.get("/healthz", headers={"Host": "10.1.2.3:8000"})
    assert probe.status_code == 200
    schema = (await client.get("/openapi.json")).json()
    assert "/api/threads/{thread_id}/events" in schema["paths"]
    body = schema["paths"]["/api/threads"]["post"]["requestBody"]["content"]
    assert "application/json" in body
    metrics = await client.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE research_runs gauge" in metrics.text
    runtime = (await client.get("/api/runtime")).json()
    loops = {loop["name"]: loop for loop in runtime["workers"][0]["loops"]}
    assert {"claims", "renewals", "reaper"} <= set(loops)
    assert all(loop["alive"] for loop in loops.values())
    assert "documents" in (await client.get("/api/documents")).json()
    pages = [await client.get(path) for path in ("/", "/admin", "/t/anything")]
    assert len({(page.status_code, page.content) for page in pages}) == 1
    built = pages[0].status_code == 200
    assert built or "has not been built" in pages[0].text


def test_migrate_says_so(database_url: str, tmp_path: Path) -> None:
    settings = {"DATABASE_URL": database_url, "DATA_DIR": str(tmp_path)}
    done = run_app("migrate", settings=settings)
    assert (done.returncode, done.stdout) == (0, "The database is up to date.\n")
