"""The embedded Postgres: shared by processes, stopped by the last, not upset by a kill -9."""

import os
import shutil
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from app.cluster import SOCKET, SOCKET_PATH_MAX
from app.embedded import EmbeddedPostgres
from app.postmaster import PidFile, alive, until
from registry.errors import StartRefused
from tests.house.embedded_user import User
from tests.services import scratch

ORDINARY = 65534  # nobody


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A data folder that was made and stopped in order, to be copied: initdb is slow."""
    folder = scratch("embedded")
    EmbeddedPostgres.start(folder / "data", durable=False).stop()
    yield folder / "data"
    shutil.rmtree(folder)


@pytest.fixture
def used(data_dir: Path, made: Path) -> Path:
    """The data folder of a service that ran before. Under root a copy belongs to root."""
    shutil.copytree(made, data_dir)
    return data_dir


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Not there yet, under a short path; no server may be left in it."""
    folder = scratch("embedded")
    yield folder / "data"
    found = server_of(folder / "data")
    if found is not None and alive(found):
        os.kill(found, signal.SIGQUIT)
    shutil.rmtree(folder)
    assert found is None or not alive(found), "the test left a server running"


def server_of(data_dir: Path) -> int | None:
    found = PidFile.read(data_dir / "postgres")
    return found.pid if found else None


def running(data_dir: Path) -> int:
    pid = server_of(data_dir)
    assert pid is not None
    assert alive(pid)
    return pid


def count(url: str) -> int:
    """How many rows the table of these tests has; made at the first call, one more at each."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS visits (n serial)")
        connection.execute("INSERT INTO visits DEFAULT VALUES")
        row = connection.execute("SELECT count(*) FROM visits").fetchone()
        assert row is not None
        return int(row[0])


def test_two_users_share_a_server_and_the_last_one_stops_it(data_dir: Path) -> None:
    first, second = User(data_dir), User(data_dir)
    pid = running(data_dir)
    assert first.url == second.url
    first.leave()
    assert running(data_dir) == pid
    assert count(second.url) == 1
    second.leave()
    assert not alive(pid)
    assert not (data_dir / "postgres" / "postmaster.pid").exists()


def test_a_killed_user_does_not_count(used: Path) -> None:
    first, second = User(used), User(used)
    pid = running(used)
    first.kill()
    assert count(second.url) == 1
    second.leave()
    assert not alive(pid)


def test_a_server_left_by_killed_users_is_joined(used: Path) -> None:
    first, second = User(used), User(used)
    pid = running(used)
    assert count(first.url) == 1
    first.kill()
    second.kill()
    with EmbeddedPostgres.start(used, durable=False) as server:
        assert running(used) == pid
        assert count(server.url) == 2
    assert not alive(pid)


def test_all_killed_and_the_server_too(used: Path) -> None:
    user = User(used)
    pid = running(used)
    assert count(user.url) == 1
    user.kill()
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: not alive(pid), 10)
    with EmbeddedPostgres.start(used, durable=False) as server:
        assert running(used) != pid
        assert count(server.url) == 2


def test_a_stale_pid_file_whose_number_went_to_a_stranger(used: Path) -> None:
    user = User(used)
    pid = running(used)
    user.kill()
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: not alive(pid), 10)
    for name in ("postmaster.pid", f"{SOCKET}.lock"):
        left = used / "postgres" / name
        left.write_text(left.read_text().replace(str(pid), str(os.getpid()), 1))
    with EmbeddedPostgres.start(used, durable=False) as server:
        assert count(server.url) == 1


def test_the_server_has_a_session_of_its_own_and_no_tcp(used: Path) -> None:
    with EmbeddedPostgres.start(used, durable=False) as server:
        assert os.getsid(running(used)) != os.getsid(0)
        with psycopg.connect(server.url, connect_timeout=10) as connection:
            row = connection.execute("SHOW listen_addresses").fetchone()
        assert row == ("",)


def test_a_user_who_forgets_to_stop_leaves_no_server(used: Path) -> None:
    user = User(used, "--forget")
    pid = running(used)
    user.leave()
    assert not alive(pid)


def test_a_second_stop_does_nothing(used: Path) -> None:
    server = EmbeddedPostgres.start(used, durable=False)
    server.stop()
    server.stop()
    assert server_of(used) is None


def test_a_start_broken_off_in_initdb_is_begun_again(data_dir: Path) -> None:
    half = data_dir / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres.start(data_dir, durable=False) as server:
        assert count(server.url) == 1
    assert not half.exists()


@pytest.mark.parametrize("odd", ["x" * 120, "a, b 'c' $d", "数据"])
def test_a_path_that_is_no_socket_path(data_dir: Path, odd: str) -> None:
    with EmbeddedPostgres.start(data_dir / odd, durable=False) as server:
        found = PidFile.read(data_dir / odd / "postgres")
        assert found is not None
        assert len(os.fsencode(Path(found.socket_dir, SOCKET))) <= SOCKET_PATH_MAX
        assert Path(found.socket_dir).stat().st_mode & 0o077 == 0
        assert count(server.url) == 1
    shutil.rmtree(found.socket_dir)


def refused(data_dir: Path) -> str:
    with pytest.raises(StartRefused) as caught:
        EmbeddedPostgres.start(data_dir, durable=False)
    reason = str(caught.value)
    assert "\n" not in reason
    return reason


def test_a_file_in_the_place_of_the_data_folder(data_dir: Path) -> None:
    data_dir.write_text("not a folder")
    assert f"{data_dir} is a file: move it away" in refused(data_dir)
    assert f"{data_dir} is a file: move it away" in refused(data_dir / "deeper")


def test_a_data_folder_that_cannot_be_written() -> None:
    assert "Cannot write the data folder /proc/nowhere" in refused(Path("/proc/nowhere"))


def test_a_data_folder_of_another_major_version(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir(parents=True)
    (data_dir / "postgres" / "PG_VERSION").write_text("17\n")
    reason = refused(data_dir)
    assert "was made by Postgres 17 and this release runs 18" in reason
    assert "dump it" in reason


def test_a_folder_that_is_something_else(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir(parents=True)
    (data_dir / "postgres" / "thesis.txt").write_text("precious")
    assert "not a Postgres data folder" in refused(data_dir)
    assert (data_dir / "postgres" / "thesis.txt").read_text() == "precious"


def test_a_server_that_cannot_start_says_why(used: Path) -> None:
    EmbeddedPostgres.start(used, durable=False).stop()
    with (used / "postgres" / "postgresql.auto.conf").open("a") as conf:
        conf.write("shared_buffers = '1 parsec'\n")
    assert "did not start" in refused(used)
    assert "shared_buffers" in refused(used)


def as_ordinary_user(work: Callable[[], None]) -> None:
    """Runs the work in a forked child, as `nobody` where we are root."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads, from 3.12 on
        child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(ORDINARY)
                os.setuid(ORDINARY)
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_ordinary_user_starts_and_stops_it_too(data_dir: Path) -> None:
    if os.geteuid() == 0:
        os.chown(data_dir.parent, ORDINARY, ORDINARY)

    def work() -> None:
        with EmbeddedPostgres.start(data_dir, durable=False) as server:
            assert count(server.url) == 1

    as_ordinary_user(work)
    owner = (data_dir / "postgres").stat().st_uid
    assert owner == (ORDINARY if os.geteuid() == 0 else os.geteuid())

    # Root, or the same user again, goes on with that folder as its owner.
    with EmbeddedPostgres.start(data_dir, durable=False) as server:
        assert count(server.url) == 2
        assert Path(f"/proc/{running(data_dir)}").stat().st_uid == owner
    as_ordinary_user(lambda: EmbeddedPostgres.start(data_dir, durable=False).stop())
