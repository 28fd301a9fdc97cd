"""Indexing: what is added, changed and removed in the folder is so in the search."""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from app.library import lease
from app.library.documents import MOST_ATTEMPTS, Documents
from app.library.index import IndexRun
from app.library.roots import Root, roots_of, survey
from app.library.segments import FAN, merge_segments
from graph.ports import Coverage, Ref
from registry.errors import LeaseLost, StartRefused
from tests.library.desk import HOLDER, READER, Desk
from tests.library.files import PAGE, pdf, word

HEAT = "# Heat pumps\n\nA heat pump moves warmth from outside into a house."
BOATS = "# Boats\n\nA sailing boat needs wind and a patient crew."


async def test_every_format_is_found_by_its_words(desk: Desk) -> None:
    desk.write("heat.md", HEAT)
    desk.write("deep/er/boats.txt", BOATS)
    desk.write("page.html", PAGE)
    desk.write("manual.pdf", pdf([["Gardens", "Roses want sun, water and a good soil."]]))
    desk.write("letter.docx", word([("Telescopes", 1), ("A mirror gathers starlight.", 0)]))
    desk.write("zh.md", "# 取消\n\n用户点击停止之后，正在执行的任务会立刻收到取消的消息。")
    await desk.index()
    assert (await desk.found("What moves warmth into a house?"))[0] == "heat.md"
    assert (await desk.found("sailing crew"))[0] == "deep/er/boats.txt"
    assert (await desk.found("time-limited right"))[0] == "page.html"
    assert (await desk.found("rose soil"))[0] == "manual.pdf"
    assert (await desk.found("starlight mirrors"))[0] == "letter.docx"
    assert (await desk.found("怎么停止任务"))[0] == "zh.md"
    assert (await desk.found("消息"))[0] == "zh.md"
    assert await desk.library.coverage(owner=READER) == Coverage(6, 0, 0)


async def test_a_hit_points_exactly_at_its_text(desk: Desk) -> None:
    sentences = " ".join(f"Sentence {n} speaks of 🦊 foxes number {n}." for n in range(200))
    desk.write("foxes.md", f"# Foxes\n\n{sentences}\n\n## 狐狸\n\n{'狐狸住在森林里。' * 90}")
    await desk.index()
    hits = await desk.library.search("foxes 狐狸", owner=READER, limit=20)
    assert len(hits) >= 5
    for hit in hits:
        whole = await desk.library.snapshot(hit.ref.key)
        assert whole is not None
        assert whole[hit.ref.start : hit.ref.end] == hit.text
    assert await desk.library.read([hit.ref for hit in hits]) == [hit.text for hit in hits]


async def test_a_changed_file_is_read_again_and_its_old_text_is_found_no_more(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    desk.write("b.md", "# Other\n\nSomething else that stays.")
    await desk.index()
    desk.write("a.md", BOATS)
    await desk.rescan()
    assert await desk.found("heat pump") == ["a.md"]  # until the new text is there
    assert await desk.library.coverage(owner=READER) == Coverage(1, 1, 0)
    await desk.index()
    assert await desk.found("heat pump") == []
    assert await desk.found("sailing boat") == ["a.md"]


async def test_a_removed_file_is_found_no_more_at_once(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    desk.write("b.md", BOATS)
    await desk.index()
    (desk.folder / "a.md").unlink()
    await desk.rescan()
    assert await desk.found("heat pump") == []
    assert list(await desk.statuses()) == ["b.md"]


async def test_a_touched_file_keeps_its_text(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    await desk.index()
    before = await desk.library.search("heat", owner=READER, limit=1)
    desk.write("a.md", HEAT)
    await desk.rescan()
    assert (await desk.library.coverage(owner=READER)).pending == 1
    await desk.index()
    assert await desk.library.search("heat", owner=READER, limit=1) == before


async def test_a_broken_file_is_named_in_log_and_list_and_stops_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    desk.write("a.pdf", b"this is no PDF")
    desk.write("b.md", HEAT)
    desk.write("c.docx", b"PK\x03\x04 nor is this a letter")
    caplog.set_level(logging.WARNING)
    await desk.index()
    assert await desk.statuses() == {
        "a.pdf": ("failed", "not a PDF: it does not begin with %PDF-"),
        "b.md": ("ready", None),
        "c.docx": ("failed", "not a DOCX: it is not a Word archive"),
    }
    said = caplog.text + capsys.readouterr().out
    assert "a.pdf" in said
    assert "c.docx" in said
    desk.write("a.pdf", pdf([["Now it is a PDF about pelicans."]]))
    await desk.index()
    assert await desk.found("pelicans") == ["a.pdf"]


async def test_a_file_that_breaks_takes_its_old_text_away(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    await desk.index()
    desk.write("a.md", b"")
    await desk.index()
    assert await desk.found("heat pump") == []
    assert await desk.statuses() == {"a.md": ("failed", "the file is empty")}


async def test_a_file_that_takes_the_reader_down_is_given_up(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    desk.write("b.md", BOATS)
    await desk.rescan()
    documents = Documents(desk.database)
    poison = next(todo.id for todo in await documents.todo(9) if todo.name == "a.md")
    for _ in range(MOST_ATTEMPTS):
        await documents.begin([poison])  # and the process died of it
    await desk.index()
    assert await desk.statuses() == {
        "a.md": ("failed", f"its reader crashed or hung {MOST_ATTEMPTS} times"),
        "b.md": ("ready", None),
    }
    desk.write("a.md", HEAT)
    await desk.index()
    assert (await desk.statuses())["a.md"] == ("ready", None)


async def test_a_file_changed_while_it_was_read_is_read_once_more(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    await desk.rescan()
    assert await lease.take(desk.database, HOLDER)
    run = IndexRun(desk.database, HOLDER, quiet=True)
    (todo,) = await Documents(desk.database).todo(9)
    await run.take(todo)
    desk.write("a.md", BOATS)
    await desk.rescan()
    await run.write()
    assert await desk.found("heat pump") == []
    await run.run()
    assert await desk.found("sailing boat") == ["a.md"]


async def test_one_indexer_at_a_time_and_the_loser_writes_nothing(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    await desk.rescan()
    assert await lease.take(desk.database, "first")
    assert not await lease.take(desk.database, "second")
    assert not await lease.free(desk.database, "second")
    await desk.database.execute("UPDATE index_lease SET until = now() - interval '1 second'")
    assert await lease.take(desk.database, "second")
    with pytest.raises(LeaseLost):
        await IndexRun(desk.database, "first", quiet=True).run()
    assert await desk.found("heat pump") == []
    await lease.give_back(desk.database, "second")
    assert await lease.free(desk.database, "anybody")


async def test_many_small_changes_leave_few_segments(desk: Desk) -> None:
    for number in range(3 * FAN):
        desk.write(f"{number}.md", f"# Note {number}\n\nThe lighthouse number {number} is lit.")
        await desk.index()
    rows = await desk.database.fetch("SELECT 1 FROM segments WHERE retired_at IS NULL")
    assert len(rows) < FAN
    assert len(await desk.found("lighthouse", limit=100)) == 3 * FAN
    for number in range(3 * FAN - 1):
        (desk.folder / f"{number}.md").unlink()
    await desk.index()
    desk.write("new.md", "# New\n\nA lighthouse again.")
    await desk.index()
    assert len(await desk.found("lighthouse", limit=100)) == 2
    row = await desk.database.fetch_one(
        "SELECT sum(passages)::int AS n FROM segments WHERE retired_at IS NULL"
    )
    assert row == {"n": 2}


async def test_what_dies_during_a_merge_is_dead_after_it(desk: Desk) -> None:
    for name in ("a.md", "b.md"):
        desk.write(name, f"# Comet\n\nThe comet of {name} was seen.")
        await desk.index()
    rows = await desk.database.fetch("SELECT segment_id FROM segments")
    (desk.folder / "a.md").unlink()

    async def waiting() -> bool:
        row = await desk.database.fetch_one(
            "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'segments'::regclass"
        )
        return row is not None

    async with (
        asyncio.timeout(20),
        asyncio.TaskGroup() as group,
        desk.database.transaction() as tx,
    ):
        await merge_segments(tx, None, [row["segment_id"] for row in rows])
        group.create_task(desk.rescan())
        while not await waiting():
            await asyncio.sleep(0.01)
    live = await desk.database.fetch(
        """
        SELECT p.snapshot_id FROM segment_parts p JOIN segments s USING (segment_id)
        WHERE p.live AND s.retired_at IS NULL
        """
    )
    current = await desk.database.fetch("SELECT snapshot_id FROM documents")
    assert live == current
    assert await desk.found("comet") == ["b.md"]


def test_links_loops_hidden_files_and_other_formats(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("a")
    (tmp_path / "real" / "loop").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "real")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b.md").write_text("b")
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("c")
    seen = survey((Root(tmp_path), Root(tmp_path / "real")))
    assert [(file.name, file.size) for file in seen.found] == [("real/a.md", 1)]
    assert seen.unseen == {}


async def test_what_cannot_be_looked_at_is_not_taken_for_gone(desk: Desk) -> None:
    desk.write("a.md", HEAT)
    await desk.index()
    desk.folder.rename(desk.folder.with_name("unmounted"))
    seen = survey((Root(desk.folder),))
    assert list(seen.unseen) == [(str(desk.folder), "")]
    await desk.rescan()
    assert await desk.found("heat pump") == ["a.md"]


def test_a_documents_folder_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match=r"^DOCUMENTS_DIR: .*/none does not exist: create it"):
        roots_of(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(StartRefused, match=r"^DOCUMENTS_DIR: .*/file is not a folder"):
        roots_of(tmp_path / "file")


def test_the_projects_own_texts_are_always_there(tmp_path: Path) -> None:
    for name in ("README.md", "docs/a.md", "src/b.md", "documents/c.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    names = {file.name for file in survey(roots_of(None, tmp_path)).found}
    assert names == {"c.md", "README.md", "docs/a.md"}


async def test_a_snapshot_that_is_gone_reads_as_nothing(desk: Desk) -> None:
    unknown = "00000000-0000-7000-8000-000000000000"
    refs = [Ref(unknown, 0, 5), Ref("no key", 0, 5)]
    assert await desk.library.read(refs) == ["", ""]
    assert await desk.library.snapshot(unknown) is None
    assert await desk.library.snapshot("no key") is None
