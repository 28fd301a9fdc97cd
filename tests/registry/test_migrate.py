"""Migrations: applied once, refused when changed, safe for several at the same instant."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import registry.migrate as module
from app.schema import prepare_schema
from registry.errors import StartRefused
from registry.migrate import migrate
from tests.services import databases


@pytest.fixture
def empty_url() -> Iterator[str]:
    url = databases().fresh()
    yield url
    databases().drop(url)


async def test_many_at_once_apply_one_set(empty_url: str) -> None:
    applied = await asyncio.gather(*(prepare_schema(empty_url) for _ in range(6)))
    assert sorted(len(names) > 0 for names in applied) == [False] * 5 + [True]
    async with await psycopg.AsyncConnection.connect(empty_url) as connection:
        cursor = await connection.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid")
        assert await cursor.fetchone() == (0,)


async def test_a_changed_or_newer_migration_is_refused(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(module.FOLDER, folder)
    monkeypatch.setattr(module, "FOLDER", folder)
    await migrate(empty_url)
    assert await migrate(empty_url) == []
    first = min(folder.glob("*.sql"))
    text = first.read_text()
    first.write_text(text + "\n-- changed\n")
    with pytest.raises(StartRefused, match="differs"):
        await migrate(empty_url)
    first.write_text(text)
    extra = folder / "0999_more.sql"
    extra.write_text("CREATE TABLE more (id int)")
    assert await migrate(empty_url) == ["0999_more.sql"]
    extra.unlink()
    with pytest.raises(StartRefused, match="newer"):
        await migrate(empty_url)


async def test_no_database_is_one_line() -> None:
    with pytest.raises(StartRefused, match="DATABASE_URL: cannot connect") as caught:
        await migrate("postgresql://postgres@127.0.0.1:1/none")
    assert "\n" not in str(caught.value)
