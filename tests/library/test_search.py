"""Search: whose documents, which order, and no more than was asked for."""

import asyncio
from uuid import UUID

from app.library.ranking import Ranking
from registry.ids import uuid7
from tests.library.desk import READER, Desk

SECRET = "# Diary\n\nThe treasure lies under the third oak."


async def read_as(desk: Desk, owner: str, prefix: str) -> None:
    """Indexes the folder; files with that prefix become documents of one user."""
    await desk.rescan()
    await desk.database.execute(
        "UPDATE documents SET owner = %(owner)s WHERE starts_with(name, %(prefix)s)",
        {"owner": owner, "prefix": prefix},
    )
    await desk.read()


async def test_f09_a_users_document_is_found_by_that_user_alone(desk: Desk) -> None:
    desk.write("own/diary.md", SECRET)
    desk.write("oaks.md", "# Oaks\n\nAn oak grows slowly, and a third of them grow old.")
    await read_as(desk, "anna", "own/")
    assert (await desk.found("treasure under the third oak", owner="anna"))[0] == "own/diary.md"
    assert await desk.found("treasure under the third oak", owner="bert") == ["oaks.md"]
    names = [item["name"] for item in await desk.library.listing(owner="bert")]
    assert "own/diary.md" not in names
    shared = {i["name"]: i["shared"] for i in await desk.library.listing(owner="anna")}
    assert shared["oaks.md"]
    assert not shared["own/diary.md"]


async def test_the_tables_have_the_last_word_over_the_index(desk: Desk) -> None:
    desk.write("diary.md", SECRET)
    await desk.index()
    assert await desk.found("treasure") == ["diary.md"]
    await desk.database.execute("UPDATE documents SET owner = 'anna'")
    assert await desk.found("treasure", owner="bert") == []  # though its segment is everybody's


async def test_another_users_documents_do_not_change_ones_scores(desk: Desk) -> None:
    desk.write("oaks.md", "# Oaks\n\nAn oak grows slowly.")
    await desk.index()
    before = await desk.library.search("oak", owner="bert", limit=1)
    for number in range(5):
        desk.write(f"own/{number}.md", f"# Diary {number}\n\nAn oak, and another oak.")
    await read_as(desk, "anna", "own/")
    assert await desk.library.search("oak", owner="bert", limit=1) == before


async def test_passages_of_one_document_make_room_for_others(desk: Desk) -> None:
    filler = "It was a long day with much to see and many to meet, and nobody was tired. " * 6
    long = "\n\n".join(f"## Part {n}\n\nThe comet was seen. {filler}" for n in range(12))
    desk.write("long.md", f"# Sky\n\n{long}")
    for name in ("one", "two"):
        desk.write(f"{name}.md", f"# {name}\n\nThe comet was seen from {name}. {filler}")
    await desk.index()
    assert set(await desk.found("comet", limit=5)) == {"long.md", "one.md", "two.md"}


async def test_a_text_that_is_there_twice_is_shown_once(desk: Desk) -> None:
    for name in ("a.md", "copy/a.md"):
        desk.write(name, "# Comet\n\nThe comet was seen in autumn.")
    await desk.index()
    assert len(await desk.library.search("comet", owner=READER, limit=5)) == 1


async def test_a_passage_under_a_heading_that_matches_comes_first(desk: Desk) -> None:
    text = "It is renewed at a third of its term, and lost when nobody renews it in time."
    desk.write("a.md", f"# Notes\n\n## Gardens\n\n{text} A lease.")
    desk.write("b.md", f"# Manual\n\n## Leases\n\n{text} A lease.")
    await desk.index()
    assert (await desk.found("how is a lease renewed"))[0] == "b.md"


async def test_questions_that_hold_no_word_find_nothing(desk: Desk) -> None:
    desk.write("a.md", SECRET)
    await desk.index()
    for query in ("", "   ", "the of and", "？！", "\x00", "\ud800", "nosuchword", "x" * 5000):
        assert await desk.library.search(query, owner=READER, limit=5) == []


async def test_a_very_long_question_is_answered(desk: Desk) -> None:
    desk.write("a.md", SECRET)
    await desk.index()
    query = "treasure " + " ".join(f"word{n}" for n in range(3000))
    assert await desk.found(query) == ["a.md"]


async def test_the_limit_is_kept_and_reached(desk: Desk) -> None:
    for number in range(30):
        desk.write(f"{number}.md", f"# Comet {number}\n\nThe comet number {number} was seen.")
    await desk.index()
    for limit in (1, 7, 30, 100):
        hits = await desk.library.search("comet", owner=READER, limit=limit)
        assert len(hits) == min(limit, 30)


async def test_a_small_cache_gives_the_same_answers(desk: Desk) -> None:
    for number in range(20):
        desk.write(f"{number}.md", f"# Note {number}\n\nComets, oaks and leases, number {number}.")
        await desk.index()
    large, small = Ranking(desk.database), Ranking(desk.database, cache_bytes=1)
    for query in ("comet oak", "lease 7", "note"):
        wanted = await large.search(query, owner=READER, limit=9)
        assert wanted
        for _ in range(2):
            assert await small.search(query, owner=READER, limit=9) == wanted


async def test_searches_during_indexing_never_fail_and_see_more_and_more(desk: Desk) -> None:
    for number in range(60):
        desk.write(f"{number}.md", f"# Note {number}\n\nThe comet number {number} was seen.")
    seen: list[int] = []

    async def look() -> None:
        while len(seen) < 5 or seen[-1] < 60:
            found = await desk.library.search("comet", owner=READER, limit=100)
            seen.append(len(found))

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(look())
        group.create_task(desk.index())
    assert seen == sorted(seen)


async def new_thread(desk: Desk) -> UUID:
    thread_id = uuid7()
    await desk.database.execute(
        """
        INSERT INTO threads (thread_id, owner, title, question, input)
        VALUES (%(id)s, 'reader', '', '', '{}')
        """,
        {"id": thread_id},
    )
    return thread_id


async def test_a_thread_keeps_the_text_it_cites_until_it_goes(desk: Desk) -> None:
    desk.write("a.md", SECRET)
    await desk.index()
    (hit,) = await desk.library.search("treasure", owner=READER, limit=1)
    thread_id = await new_thread(desk)
    for _ in range(2):
        await desk.library.keep(str(thread_id), [hit.ref.key, str(uuid7()), "no key"])
    desk.write("a.md", "# Diary\n\nNothing here any more.")
    await desk.index()
    assert await desk.found("treasure") == []
    await desk.library.snapshots.collect(grace_seconds=0)
    assert await desk.library.read([hit.ref]) == [hit.text]
    await desk.database.execute("DELETE FROM threads")
    await desk.library.snapshots.collect(grace_seconds=0)
    assert await desk.library.read([hit.ref]) == [""]


async def test_an_old_text_that_nobody_keeps_goes_and_the_current_one_stays(desk: Desk) -> None:
    desk.write("a.md", SECRET)
    await desk.index()
    desk.write("a.md", "# Diary\n\nThe second version.")
    await desk.index()
    assert await desk.library.snapshots.collect() == 0  # a search may still read it
    assert await desk.library.snapshots.collect(grace_seconds=0) == 1
    assert await desk.found("second version") == ["a.md"]


async def test_a_page_of_the_web_is_stored_once_and_kept_the_same_way(desk: Desk) -> None:
    async def store(text: str) -> str:
        page = {"url": "https://a.example/", "title": "A"}
        return await desk.library.snapshots.store_page(**page, date=None, text=text)

    key = await store("Some text.")
    assert await store("Some text.") == key
    other = await store("New text.")
    assert other != key
    thread_id = await new_thread(desk)
    await desk.library.keep(str(thread_id), [key])
    await desk.library.snapshots.collect(grace_seconds=0)
    assert await desk.library.snapshot(key) == "Some text."
    assert await desk.library.snapshot(other) is None


async def test_keeping_for_a_thread_that_is_gone_is_no_error(desk: Desk) -> None:
    key = await desk.library.snapshots.store_page(url="u", title="", date=None, text="t")
    await desk.library.keep(str(uuid7()), [key])
    await desk.library.keep("no thread", [key])
