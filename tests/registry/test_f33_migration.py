"""F33: several workers start on one empty database at the same instant."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
import pytest
from psycopg import Connection

import registry.migrate as module
from app.schema import prepare_schema
from registry.errors import StartRefused
from registry.migrate import known_migrations, migrate
from registry.turn import Turn, TurnLost
from tests.proxy import Proxy
from tests.services import PROJECT, databases
from tests.waiting import until

WORKERS = 8
ROUNDS = 4
HELD_SECONDS = 4
INDEXES = {
    "checkpoints_thread_id_idx",
    "checkpoint_blobs_thread_id_idx",
    "checkpoint_writes_thread_id_idx",
}


@contextmanager
def fresh() -> Generator[str]:
    url = databases().fresh()
    yield url
    databases().drop(url)


@pytest.fixture
def empty_url() -> Iterator[str]:
    with fresh() as url:
        yield url


class Starters:
    """Processes that have done their imports and wait for a URL."""

    def __init__(self, count: int, log: Path) -> None:
        self.log = log
        with log.open("w") as out:
            self._processes = [
                subprocess.Popen(
                    [sys.executable, "-m", "tests.registry.starter"],
                    cwd=PROJECT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=out,
                    text=True,
                )
                for _ in range(count)
            ]
        for process in self._processes:
            assert process.stdout is not None
            assert _answer(process) == "ready"

    def start(self, url: str) -> list[dict[str, Any]]:
        """All at once; what each says."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(url + "\n")
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.flush()
        with ThreadPoolExecutor(len(self._processes)) as threads:
            return [json.loads(line) for line in threads.map(_answer, self._processes)]

    def stop(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            process.wait(timeout=10)
            process.stdout.close()


def _answer(process: "subprocess.Popen[str]") -> str:
    """The next line that is no log."""
    assert process.stdout is not None
    while line := process.stdout.readline():
        if line.startswith(("{", "ready")):
            return line.strip()
    raise AssertionError("it ended without an answer")


@pytest.fixture(scope="module")
def starters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starters]:
    made = Starters(WORKERS, tmp_path_factory.mktemp("f33") / "log")
    yield made
    made.stop()


def rows(url: str, sql: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(cast("LiteralString", sql)).fetchall()


def check_whole(url: str) -> None:
    """Every migration once, no index invalid, nobody's turn left."""
    applied = [number for (number,) in rows(url, "SELECT number FROM schema_migrations ORDER BY 1")]
    assert applied == [item.number for item in known_migrations()]
    assert rows(url, "SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid") == []
    names = rows(url, "SELECT indexname FROM pg_indexes WHERE tablename LIKE 'checkpoint%'")
    assert {name for (name,) in names} >= INDEXES
    saver = [number for (number,) in rows(url, "SELECT v FROM checkpoint_migrations ORDER BY 1")]
    assert saver == list(range(len(saver)))
    assert rows(url, "SELECT * FROM schema_turn") == []


def test_f33_eight_workers_start_at_once_on_an_empty_database(starters: Starters) -> None:
    for _ in range(ROUNDS):
        with fresh() as url:
            answers = starters.start(url)
            assert [a["refused"] for a in answers] == [None] * WORKERS
            sets = sorted(a["applied"] for a in answers)
            assert sets == [[]] * (WORKERS - 1) + [[item.name for item in known_migrations()]]
            assert max(a["seconds"] for a in answers) < 30
            check_whole(url)


def test_f33_a_foreign_transaction_holds_all_up_and_the_log_says_so(starters: Starters) -> None:
    with fresh() as url, ThreadPoolExecutor(1) as threads, psycopg.connect(url) as foreign:
        foreign.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        pid = foreign.execute("SELECT pg_backend_pid()").fetchone()
        starting = threads.submit(starters.start, url)
        with pytest.raises(TimeoutError):
            starting.result(timeout=HELD_SECONDS)
        foreign.rollback()
        answers = starting.result(timeout=30)
        assert [a["refused"] for a in answers] == [None] * WORKERS
        check_whole(url)
    assert pid is not None
    log = starters.log.read_text()
    assert "schema_waits_for_transactions" in log
    assert str(pid[0]) in log
    assert "schema_changed_by_another_process" in log


@contextmanager
def snapshot(url: str) -> Generator[Connection[Any]]:
    """A foreign session that holds a snapshot, for which concurrent builds wait."""
    with psycopg.connect(url) as foreign:
        foreign.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        foreign.execute("SELECT 1")
        yield foreign
        foreign.rollback()


def cut_off(url: str, statement: str) -> None:
    """Runs a concurrent build that fails when half of it is done."""
    with snapshot(url), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET statement_timeout = '300ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(cast("LiteralString", statement))


async def test_f33_index_builds_that_were_cut_off_are_mended(empty_url: str) -> None:
    await prepare_schema(empty_url)
    rows(empty_url, "DELETE FROM checkpoint_migrations WHERE v >= 6 RETURNING v")
    name = "checkpoints_thread_id_idx"
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(f"DROP INDEX {name}")
    cut_off(empty_url, f"CREATE INDEX CONCURRENTLY {name} ON checkpoints (thread_id)")
    cut_off(empty_url, "REINDEX INDEX CONCURRENTLY checkpoint_blobs_thread_id_idx")
    invalid = rows(empty_url, "SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid")
    assert len(invalid) == 2
    await prepare_schema(empty_url)
    check_whole(empty_url)


async def test_a_holder_that_died_is_waited_for_no_longer_than_its_turn(empty_url: str) -> None:
    await prepare_schema(empty_url)
    rows(
        empty_url,
        """
        INSERT INTO schema_turn (holder, until) VALUES ('dead', now() + interval '500 ms')
        RETURNING 1
        """,
    )
    with pytest.raises(StartRefused, match="another process has been migrating"):
        await migrate(empty_url, patience=0.1)
    assert await migrate(empty_url, patience=5) == []
    assert rows(empty_url, "SELECT * FROM schema_turn") == []


async def nobody() -> Any:
    raise AssertionError("it needs no second connection")


async def test_a_holder_that_was_overtaken_stops_and_begins_anew(empty_url: str) -> None:
    calls = 0

    async def also(connection: psycopg.AsyncConnection[Any]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:  # it stands still, and somebody else takes its turn for a moment
            await asyncio.to_thread(
                rows,
                empty_url,
                """
                UPDATE schema_turn SET holder = 'other', until = now() + interval '3 s'
                RETURNING 1
                """,
            )
            with pytest.raises(TurnLost):
                await turn_of_nobody.check(connection)
            await asyncio.Event().wait()

    turn_of_nobody = Turn(nobody)
    assert len(await migrate(empty_url, also=also)) == len(known_migrations())
    assert calls == 2
    assert rows(empty_url, "SELECT * FROM schema_turn") == []


async def test_a_migration_lets_others_through_while_it_waits_for_a_lock(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate(empty_url)
    for file in module.FOLDER.glob("*.sql"):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "0999_more.sql").write_text("ALTER TABLE threads ADD COLUMN more int")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    with psycopg.connect(empty_url) as foreign:
        foreign.execute("LOCK TABLE threads IN ACCESS SHARE MODE")
        changing = asyncio.get_running_loop().create_task(migrate(empty_url))
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'threads'::regclass"
        await until(lambda: bool(rows(empty_url, waiting)))
        # Behind the waiting change; it gives way long before the foreign session does.
        assert await asyncio.to_thread(rows, empty_url, "SELECT count(*) FROM threads") == [(0,)]
        assert not changing.done()
        foreign.rollback()
    assert await changing == ["0999_more.sql"]


async def test_two_files_with_one_number_are_refused(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0001_one.sql").write_text("SELECT 1")
    (tmp_path / "0001_two.sql").write_text("SELECT 1")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    with pytest.raises(StartRefused, match=r"0001_one\.sql and 0001_two\.sql have the same number"):
        await migrate(empty_url)


async def test_a_server_that_answers_nothing_is_no_endless_start(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.turn.ANSWER", 0.3)
    with Proxy(empty_url) as proxy:
        async with await psycopg.AsyncConnection.connect(proxy.url, autocommit=True) as connection:
            proxy.drop()
            with pytest.raises(psycopg.OperationalError):
                await Turn(nobody).take(connection, 1)
