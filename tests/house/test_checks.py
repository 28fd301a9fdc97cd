"""The checks of `make check` complain about what they are for."""

from pathlib import Path
from typing import Any

import check_compose
import check_lengths
import check_locks
import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
PINNED = "rich==15.0 \\\n    --hash=sha256:abc\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (PINNED, ""),
        ("--index-url https://index.example\n" + PINNED, "an address of an index"),
        ("--find-links /wheels\n" + PINNED, "an address of an index"),
        ("rich @ https://index.example/rich.whl \\\n    --hash=sha256:abc\n", "an address"),
        ("rich==15.0\n", "no hash"),
        ("rich \\\n    --hash=sha256:abc\n", "not pinned"),
    ],
)
def test_python_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    monkeypatch.setattr(check_locks, "PROJECT", tmp_path)
    lock = tmp_path / "run.txt"
    lock.write_text(text)
    found = check_locks.python_lock(lock)
    assert len(found) == bool(complaint)
    assert complaint in "".join(found)


def test_npm_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_locks, "PROJECT", tmp_path)
    lock = tmp_path / "package-lock.json"
    lock.write_text(
        '{"packages": {"": {}, "node_modules/a": {"integrity": "x"},'
        '"node_modules/b": {"resolved": "r", "integrity": "x"}, "node_modules/c": {}}}'
    )
    found = check_locks.npm_lock(lock)
    assert [line.rpartition(": ")[2] for line in found] == ["an address of a registry", "no hash"]


def test_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_lengths, "PROJECT", tmp_path)
    allowed, long, empty_name = (tmp_path / name for name in ("a.py", "b.py", "utils.ts"))
    allowed.write_text("x\n" * 300)
    long.write_text("x\n" * 301)
    empty_name.write_text("")
    found = check_lengths.complaints([allowed, long, empty_name])
    assert [line.split(":")[0] for line in found] == ["b.py", "utils.ts"]


def compose() -> dict[str, Any]:
    return yaml.safe_load((PROJECT / "docker-compose.yml").read_text())


def test_compose_as_it_is() -> None:
    assert check_compose.complaints(compose()) == []


def test_compose_with_too_short_a_grace() -> None:
    changed = compose()
    changed["services"]["worker"]["stop_grace_period"] = "20s"
    assert "must exceed DRAIN_SECONDS" in "".join(check_compose.complaints(changed))


def test_compose_without_redis() -> None:
    changed = compose()
    del changed["services"]["redis"]
    assert check_compose.complaints(changed) == ["no service redis"]


def test_compose_with_a_typing_error() -> None:
    changed = compose()
    changed["services"]["worker"]["enviroment"] = {}
    changed["services"]["redis"]["ports"] = ["6379:6379"]
    changed["services"]["worker"]["depends_on"]["redis"]["condition"] = "healthy"
    found = "\n".join(check_compose.complaints(changed))
    assert "worker: no such key enviroment" in found
    assert "redis: port '6379:6379' is open to all addresses" in found
    assert "worker: waits for redis with no condition that there is" in found


def test_compose_with_a_port_on_the_worker() -> None:
    changed = compose()
    changed["services"]["worker"]["ports"] = ["127.0.0.1:8000:8000"]
    assert "a host port allows one worker only" in "".join(check_compose.complaints(changed))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("proxy_buffering off", "proxy_buffering on", "proxy_buffering"),
        ("proxy_read_timeout 75s", "proxy_read_timeout 10s", "proxy_read_timeout"),
        ("error timeout;", "error timeout non_idempotent;", "proxy_next_upstream"),
        ("$uri", "$request_uri", "query strings"),
        ("gzip off;", "", "gzip"),
    ],
)
def test_nginx_that_would_harm_a_stream(old: str, new: str, complaint: str) -> None:
    text = (PROJECT / "deploy" / "nginx.conf").read_text()
    assert check_compose.nginx_complaints(text) == []
    found = check_compose.nginx_complaints(text.replace(old, new))
    assert len(found) == 1
    assert complaint in found[0]
