"""`python -m app ask`: a report in the terminal, a person who answers, a person who stops."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.terminal import harmless
from tests.api.conftest import GARDEN
from tests.api.running import run_app
from tests.api.terminal import Terminal
from tests.conftest import migrated
from tests.services import databases
from tests.simulator import Simulator

QUESTION = "How much honey does a colony of bees need for the winter?"
RESUME = re.compile(r"python -m app ask --resume ([0-9a-f-]{36})")


@pytest.fixture(scope="module")
def settings(_template: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One database for all: the documents are indexed by the first question."""
    folder, url = tmp_path_factory.mktemp("ask"), databases().fresh(migrated)
    documents = folder / "documents"
    documents.mkdir()
    (documents / "garden.md").write_text(GARDEN)
    yield {
        "DATABASE_URL": url,
        "DATA_DIR": str(folder / "data"),
        "DOCUMENTS_DIR": str(documents),
    }
    databases().drop(url)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as made:
        yield made


def test_without_a_terminal_the_report_comes_on_stdout(settings: dict[str, str]) -> None:
    done = run_app("ask", QUESTION, settings=settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# ")
    assert "\n## " in done.stdout
    assert "[1]" in done.stdout
    assert "garden.md" in done.stdout
    assert "Plan" in done.stderr
    assert "Traceback" not in done.stderr


def test_json_into_a_file(settings: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = run_app("ask", QUESTION, "--json", "--out", str(out), "--yes", settings=settings)
    assert (done.returncode, done.stdout) == (0, "")
    report = json.loads(out.read_text())
    assert (report["version"], report["language"]) == (1, "en")
    assert any(section["citations"] for section in report["sections"])


def test_a_person_approves(settings: dict[str, str]) -> None:
    with Terminal("ask", QUESTION, settings=settings) as screen:
        screen.until("[q]uit?")
        assert "Plan" in screen.before
        screen.enter("what")
        screen.until("[q]uit?")
        screen.enter("a")
        code, out = screen.end()
    assert code == 0, screen.shown
    assert out.startswith("# ")


def test_a_person_edits_and_revises_the_plan(settings: dict[str, str]) -> None:
    with Terminal("ask", QUESTION, "--json", settings=settings) as screen:
        screen.until("[q]uit?")
        screen.enter("r")
        screen.until("different?")
        screen.enter("Look at swarming as well")
        screen.until("[q]uit?")
        screen.enter("e")
        screen.until(">")
        screen.enter("Feeding in winter")
        while screen.until("  >", "no more):") == "  >":
            screen.enter("-")
        screen.enter("Swarming in May")
        screen.until("no more):")
        screen.enter("")
        code, out = screen.end()
    assert code == 0, screen.shown
    titles = [section["title"] for section in json.loads(out)["sections"]]
    assert {"Feeding in winter", "Swarming in May"} <= set(titles)


def test_a_person_who_leaves_a_question_open_comes_back_to_it(settings: dict[str, str]) -> None:
    with Terminal("ask", QUESTION, settings=settings) as screen:
        screen.until("[q]uit?")
        screen.process.send_signal(signal.SIGINT)
        code, out = screen.end()
    assert (code, out) == (130, "")
    found = RESUME.search(screen.shown)
    assert found is not None, screen.shown
    done = run_app("ask", "--resume", found[1], settings=settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# ")
    again = run_app("ask", "--resume", found[1], settings=settings)
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_a_stop_is_real_and_says_how_to_go_on(
    settings: dict[str, str], simulator: Simulator
) -> None:
    slow = {**settings, "OPENAI_BASE_URL": simulator.url, "MODEL": "sim-5x400"}
    with Terminal("ask", QUESTION, "--yes", settings=slow) as screen:
        screen.until("Searching", seconds=40)
        screen.process.send_signal(signal.SIGINT)
        code, out = screen.end()
    assert (code, out) == (130, ""), screen.shown
    assert "Traceback" not in screen.shown
    found = RESUME.search(screen.shown)
    assert found is not None, screen.shown
    assert simulator.stats().open == 0
    fast = {**settings, "OPENAI_BASE_URL": simulator.url, "MODEL": "sim-0x60"}
    done = run_app("ask", "--resume", found[1], settings=fast, seconds=60)
    assert done.returncode == 0, done.stderr


def test_an_unknown_thread_is_one_line(settings: dict[str, str]) -> None:
    nobody = "00000000-0000-7000-8000-000000000000"
    done = run_app("ask", "--resume", nobody, settings=settings)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().splitlines()[-1] == "There is no such thread."


def test_control_characters_of_others_do_not_reach_the_terminal() -> None:
    assert harmless("a\x1b[2Jb\x9bc\r\nd\te") == "a[2Jbc\nd\te"
