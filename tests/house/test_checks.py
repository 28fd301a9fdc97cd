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
