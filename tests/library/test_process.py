"""The indexing process: started when needed, gone with whoever started it, put up again."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from app.library import DocumentLibrary, Indexer
from registry.database import Database
from tests.library.desk import READER, Desk
from tests.services import PROJECT
from tests.waiting import until

PARENT = """
import asyncio, sys
from pathlib import Path
from app.library import DocumentLibrary, Indexer
from registry.database import Database

async def main() -> None:
    database = Database(sys.argv[1], size=2)
    await database.open()
    indexer = Indexer(sys.argv[1], Path(sys.argv[2]), DocumentLibrary(database))
    await indexer.loop.run()

asyncio.run(main())
"""


@pytest.fixture
def many(desk: Desk) -> Desk:
    """Enough work for a process to be caught in the middle of it."""
    for number in range(30):
        words = " ".join(f"word{n * number}" for n in range(8_000))
        desk.write(f"{number}.txt", f"The comet number {number} was seen. {words}")
    return desk


@pytest.fixture
def parent(many: Desk) -> Iterator[psutil.Process]:
    """Another service over the same folder and database."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, many.database.url, str(many.folder)],
        cwd=PROJECT,
        start_new_session=True,
    )
    yield psutil.Process(process.pid)
    with open_group(process.pid):
        process.kill()
    process.wait()


class open_group:  # noqa: N801 - reads as a statement
    """Ends what is left of a process group; nothing is left where the test passed."""

    def __init__(self, group: int) -> None:
        self._group = group

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self._group, signal.SIGKILL)
        except ProcessLookupError:
            return


def indexer_of(desk: Desk, tmp_path: Path, **changes: float) -> Indexer:
    library = DocumentLibrary(desk.database)
    return Indexer(desk.database.url, desk.folder, library, project=tmp_path / "none", **changes)


def children(process: psutil.Process) -> list[psutil.Process]:
    found = process.children()
    return [child for child in found if "app.library.index" in " ".join(child.cmdline())]


async def test_a_pass_ends_when_all_is_indexed(desk: Desk, tmp_path: Path) -> None:
    desk.write("a.md", "# Comet\n\nThe comet was seen.")
    desk.write("b.pdf", b"no PDF")
    indexer = indexer_of(desk, tmp_path)
    await indexer.loop.work()
    assert await desk.found("comet") == ["a.md"]
    seen = indexer.progress()
    assert (seen["indexed"], seen["failed"], seen["pending"], seen["total"]) == (1, 1, 0, 2)
    assert seen["current"] is None
    assert children(psutil.Process()) == []
    await indexer.loop.work()  # and with nothing to do there is no process
    assert children(psutil.Process()) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_the_process_dies_with_its_parent(
    many: Desk, parent: psutil.Process, how: signal.Signals
) -> None:
    await until(lambda: bool(children(parent)), seconds=30)
    (child,) = children(parent)
    parent.send_signal(how)
    await until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    # and the next one need not wait for its lease
    await desk_is_free(many.database)


async def desk_is_free(database: Database) -> None:
    async with asyncio.timeout(5):
        while await database.fetch("SELECT 1 FROM index_lease WHERE until > now()"):
            await asyncio.sleep(0.05)


async def test_a_cancel_of_the_pass_ends_the_process_at_once(many: Desk, tmp_path: Path) -> None:
    indexer = indexer_of(many, tmp_path)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(work(indexer))
        await until(lambda: bool(children(psutil.Process())), seconds=30)
        running.cancel()
    assert children(psutil.Process()) == []


async def work(indexer: Indexer) -> None:
    await indexer.loop.work()


async def test_a_process_that_is_killed_is_started_again(many: Desk, tmp_path: Path) -> None:
    indexer = indexer_of(many, tmp_path)
    async with asyncio.TaskGroup() as group:
        group.create_task(work(indexer))
        await until(lambda: indexer.progress()["current"] is not None, seconds=30)
        (child,) = children(psutil.Process())
        child.send_signal(signal.SIGKILL)
    assert indexer.progress()["pending"] > 0
    await indexer.loop.work()
    assert (await many.library.coverage(owner=READER)).indexed == 30


async def test_a_silent_process_is_killed(many: Desk, tmp_path: Path) -> None:
    indexer = indexer_of(many, tmp_path, silence_seconds=0.5, rescan_seconds=0.2)
    async with asyncio.TaskGroup() as group:
        group.create_task(work(indexer))
        await until(lambda: indexer.progress()["current"] is not None, seconds=30)
        (child,) = children(psutil.Process())
        child.send_signal(signal.SIGSTOP)  # as a file would that its reader never finishes
    assert indexer.progress()["pending"] > 0


def test_the_process_alone_says_who_starts_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app.library.index"],
        cwd=PROJECT,
        input=json.dumps({}) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


async def test_a_ctrl_c_of_the_terminal_does_not_reach_the_process(
    many: Desk, parent: psutil.Process
) -> None:
    await until(lambda: bool(children(parent)), seconds=30)
    (child,) = children(parent)
    assert os.getpgid(child.pid) != os.getpgid(parent.pid)


def test_the_process_ends_with_its_parent_also_while_the_database_is_not_there() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app.library.index"],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    task = {"url": "postgresql://nobody@127.0.0.1:1/none?connect_timeout=60", "holder": "x"}
    process.stdin.write(json.dumps(task).encode() + b"\n")
    process.stdin.close()
    assert process.wait(timeout=10) == 0  # a pool would try for 15 seconds
