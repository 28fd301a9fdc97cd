"""A whole session in a real browser: ask, edit the plan, approve, reload, stop, resume, check."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api.running import Running
from tests.services import PROJECT, ServiceMissing, chromium
from tests.simulator import Simulator

SECONDS = 240


@pytest.mark.browser
@pytest.mark.timeout(SECONDS + 60)
def test_a_person_asks_edits_approves_reloads_stops_resumes_and_checks(
    tmp_path: Path, database_url: str
) -> None:
    node = shutil.which("node")
    if node is None:
        raise ServiceMissing("no node on the PATH: run the tests with `make test`")
    if not (PROJECT / "frontend" / "dist" / "index.html").is_file():
        raise ServiceMissing("frontend/dist is not built: run the tests with `make test`")
    browser = chromium()
    shots = Path(os.environ.get("SHOTS", str(tmp_path / "shots")))
    shots.mkdir(exist_ok=True)
    # Paced at 20 tokens a second: an offline report would be over before the reload.
    with (
        Simulator() as simulator,
        Running(database_url, {"OPENAI_BASE_URL": simulator.url, "MODEL": "sim-20x150"}) as server,
    ):
        server.indexed()
        done = subprocess.run(
            [node, "e2e/session.mjs"],
            check=False,
            cwd=PROJECT / "frontend",
            env={
                **os.environ,
                **browser.env,
                "BASE_URL": server.url,
                "CHROMIUM_PATH": str(browser.path),
                "CHROMIUM_ARGS": json.dumps(browser.args),
                "SHOTS": str(shots),
            },
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        log = server.log.read_text()[-3000:]
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{log}"
