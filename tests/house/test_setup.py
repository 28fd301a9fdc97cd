"""Set-up from a bare python3: old Pythons, failures in one line, no work done twice."""

import ast
import subprocess
import sys
from pathlib import Path

import package_index
import pytest
import stamps
from commands import SetupFailed, execute

PROJECT = Path(__file__).resolve().parents[2]
BOOTSTRAP = PROJECT / "scripts" / "bootstrap.py"


def test_a_python_too_old_gets_one_line(tmp_path: Path) -> None:
    pretend = (
        f"import runpy, sys; sys.version_info = (3, 8, 18); runpy.run_path({str(BOOTSTRAP)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", pretend],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path)},
        timeout=30,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Python 3.11 or newer is needed, this is 3.8" in done.stderr


def test_an_old_python_can_read_the_first_file() -> None:
    ast.parse(BOOTSTRAP.read_text(), feature_version=(3, 7))


def test_an_unknown_target_gets_one_line() -> None:
    done = subprocess.run(
        [sys.executable, BOOTSTRAP, "lunch"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("setup: no target 'lunch'")
    assert done.stderr.count("\n") == 1


def test_a_failed_step_is_one_line_with_the_cause() -> None:
    script = "echo fetching; echo 'error: no route to the index'; echo bye; exit 3"
    with pytest.raises(SetupFailed) as caught:
        execute("installing", ["/bin/sh", "-c", script], advice="check the network")
    reason = str(caught.value)
    assert reason.startswith("installing: error: no route to the index - check the network")
    assert "\n" not in reason


def test_a_stamp_follows_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "dist").mkdir()
    source, built = tmp_path / "src" / "a.ts", tmp_path / "dist" / "a.js"
    source.write_text("one")
    built.write_text("one")

    def now() -> str:
        return stamps.key("20", *stamps.files(tmp_path, without=["dist"]))

    first = now()
    built.write_text("two")
    assert now() == first
    source.write_text("two")
    changed = now()
    assert changed != first
    source.rename(source.with_name("b.ts"))
    assert now() not in {first, changed}


def test_a_torn_stamp_is_no_stamp(tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    assert stamps.read(stamp) == {}
    stamps.write(stamp, key="1")
    assert stamps.read(stamp) == {"key": "1"}
    stamp.write_text('{"key": ')
    assert stamps.read(stamp) == {}


PIP = {
    "index-url": "https://index.example/simple",
    "extra-index-url": "https://one.example\nhttps://two.example",
    "find-links": "/wheels",
    "cert": "/certs.pem",
    "timeout": "40",
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of this machine's own for uv."""
    names = ["UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"]
    for name in [*names, "UV_NO_INDEX", "UV_FIND_LINKS", "UV_HTTP_TIMEOUT", "SSL_CERT_FILE"]:
        monkeypatch.delenv(name, raising=False)


def test_uv_sees_the_indexes_of_pip(bare: None) -> None:
    seen = package_index.uv_environment(PIP)
    assert seen["UV_DEFAULT_INDEX"] == "https://index.example/simple"
    assert seen["UV_INDEX"] == "https://one.example https://two.example"
    assert (seen["UV_FIND_LINKS"], seen["SSL_CERT_FILE"]) == ("/wheels", "/certs.pem")
    assert (seen["UV_HTTP_TIMEOUT"], seen["UV_PYTHON_DOWNLOADS"]) == ("40", "never")


def test_what_is_set_for_uv_itself_wins(bare: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://mine.example")
    monkeypatch.setenv("SSL_CERT_FILE", "/mine.pem")
    seen = package_index.uv_environment(PIP)
    assert not {"UV_DEFAULT_INDEX", "UV_INDEX", "SSL_CERT_FILE"} & set(seen)
