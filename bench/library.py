"""Documents: how long 1,000 pages take to index, and a search among 100,000 passages.

The pages are made up, about 20 KB each and all different, of words with the frequencies of
real prose; the same on every machine. The index is a real one in a real Postgres.
"""

import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final
from uuid import uuid4

from app.embedded import EmbeddedPostgres
from app.library import DocumentLibrary, Indexer
from app.library import lease as index_lease
from app.library.documents import Todo
from app.library.formats.parsed import Block, lay_out
from app.library.index import IndexRun
from app.library.intake import Batch, Ready
from app.library.passages import cut
from app.library.segment import count_terms
from app.library.segments import FAN
from app.schema import prepare_schema
from bench import Figure
from registry.database import Database

PAGES: Final = 1_000
PASSAGES: Final = 100_000
QUESTIONS: Final = 400
_LITTLE: Final = "the of and to in a is that for it as was with be by on not he his but at are"
_EMPTY: Final = _LITTLE.split()


class Prose:
    """Sentences of invented words; a word's frequency falls with its rank, as in real text."""

    def __init__(self, seed: int, size: int = 40_000) -> None:
        """`seed` chooses the text; the vocabulary is always the same."""
        self.random = random.Random(0)
        parts = [c + v for c in "bcdfghklmnprstvz" for v in ("a", "e", "i", "o", "u", "ar", "en")]
        words: dict[str, None] = {}
        while len(words) < size:
            words["".join(self.random.choices(parts, k=self.random.randint(2, 4)))] = None
        self._words = list(words)
        self.random.seed(seed)
        # Zipf and Mandelbrot: rank + 3 to the power of 1.05
        self._weights = list(accumulate(1 / (rank + 3) ** 1.05 for rank in range(size)))

    def words(self, count: int) -> list[str]:
        return self.random.choices(self._words, cum_weights=self._weights, k=count)

    def sentence(self) -> str:
        full = self.words(self.random.randint(6, 14))
        for at in range(0, len(full), 2):
            full.insert(at, self.random.choice(_EMPTY))
        return " ".join(full).capitalize() + "."

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self.random.randint(4, 8)))

    def page(self, number: int) -> str:
        """About 20 KB of HTML, with the menu, script and footer that pages have."""
        title = " ".join(self.words(5)).capitalize()
        body: list[str] = [f"<h1>{title} {number}</h1>"]
        while sum(map(len, body)) < 18_500:
            body.append(f"<h2>{' '.join(self.words(3)).capitalize()}</h2>")
            body += [f"<p>{self.paragraph()}</p>" for _ in range(self.random.randint(2, 4))]
        menu = "".join(f'<li><a href="/{w}">{w}</a></li>' for w in self.words(30))
        return (
            f"<!doctype html><html><head><meta charset=utf-8><title>{title} {number}</title>"
            f"<style>p {{ margin: 0 }}</style></head><body><nav><ul>{menu}</ul></nav><main>"
            f"{''.join(body)}</main><footer>{self.sentence()}</footer>"
            f"<script>var page = {number};</script></body></html>"
        )

    def question(self) -> str:
        """Five to twelve words, common ones among them."""
        full = self.words(self.random.randint(3, 7))
        return " ".join(["How", "is", *full, "the", full[0]]) + "?"


def measure() -> Iterable[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="research-bench-"))
    folder.chmod(0o755)
    server = EmbeddedPostgres.start(folder / "postgres")
    try:
        size = write_pages(folder / "pages")
        yield from asyncio.run(_indexing(server.url, folder / "pages", size))
        yield from asyncio.run(_searching(server.url))
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def write_pages(folder: Path) -> int:
    """Their size in bytes."""
    prose = Prose(1)
    folder.mkdir()
    pages = [prose.page(number) for number in range(PAGES)]
    for number, page in enumerate(pages):
        (folder / f"page-{number:04}.html").write_text(page)
    return sum(map(len, pages))


async def _indexing(url: str, folder: Path, size: int) -> list[Figure]:
    prose = Prose(2)
    await prepare_schema(url)
    database = Database(url, size=4)
    await database.open()
    library = DocumentLibrary(database)
    indexer = Indexer(url, folder, library, project=folder.parent)
    waits: list[float] = []
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(_once(indexer))
        while not running.done():
            waits.append(await _timed_search(library, prose.question()))
            await asyncio.wait({running}, timeout=0.2)
    took = time.monotonic() - began
    found = await library.coverage(owner="bench")
    await database.close()
    return [
        Figure("size of the pages", size / 1e6, "MB"),
        Figure(f"{PAGES:,} pages indexed", took, "s", 60),
        Figure("pages found ready", found.indexed, "", PAGES, "higher"),
        Figure("search meanwhile, p95", _percentile(waits, 0.95) * 1000, "ms"),
    ]


async def _once(indexer: Indexer) -> None:
    await indexer.loop.work()


async def _searching(url: str) -> list[Figure]:
    database = Database(url, size=4)
    await database.open()
    began = time.monotonic()
    count = await _fill(database)
    took = time.monotonic() - began
    library = DocumentLibrary(database)
    prose = Prose(7)
    asked = [prose.question() for _ in range(QUESTIONS)]
    cold = [await _timed_search(library, question) for question in asked]
    warm = [await _timed_search(library, question) for question in asked]
    segments = await database.fetch_one(
        "SELECT count(*) AS n FROM segments WHERE retired_at IS NULL"
    )
    await database.close()
    return [
        Figure("passages", count, "", PASSAGES, "higher"),
        Figure("written in", took, "s"),
        Figure("segments", segments["n"] if segments else 0, ""),
        Figure("search, nothing cached, p50", _percentile(cold, 0.5) * 1000, "ms"),
        Figure("search, nothing cached, p95", _percentile(cold, 0.95) * 1000, "ms", 50),
        Figure("search, p50", _percentile(warm, 0.5) * 1000, "ms"),
        Figure("search, p95", _percentile(warm, 0.95) * 1000, "ms", 50),
    ]


async def _fill(database: Database) -> int:
    """Adds documents, past the readers of formats, until there are `PASSAGES`."""
    holder = str(uuid4())
    if not await index_lease.take(database, holder):
        raise RuntimeError("somebody else is indexing this database")
    run = IndexRun(database, holder, quiet=True)
    row = await database.fetch_one("SELECT count(*)::int AS n FROM passages")
    count = row["n"] if row else 0
    batch = Batch()
    for item in _documents(Prose(3), PASSAGES - count):
        todo = item.todo
        await database.execute(
            """
            INSERT INTO documents (id, owner, root, name, size, changed_ns, reader)
            VALUES (%(id)s, 'bench', '', %(name)s, 0, 0, 1)
            """,
            {"id": todo.id, "name": todo.name},
        )
        batch.add(item)
        if batch.full:
            await batch.write(database, holder)
            await run.tidy(FAN, most=1)
        count += len(item.cuts)
    await batch.write(database, holder)
    await run.tidy()
    await index_lease.give_back(database, holder)
    return count


def _documents(prose: Prose, passages: int) -> Iterator[Ready]:
    made = 0
    while made < passages:
        laid = lay_out([Block(prose.paragraph()) for _ in range(40)])
        title = " ".join(prose.words(5))
        cuts = tuple(cut(laid, title))
        made += len(cuts)
        counts = tuple(count_terms(laid.text[c.start : c.end], c.context) for c in cuts)
        todo = Todo(uuid4(), "bench", "", f"made-{made}", 0, 0, None, 0, None)
        yield Ready(todo, b"", title, None, laid, cuts, counts)


async def _timed_search(library: DocumentLibrary, question: str) -> float:
    began = time.monotonic()
    await library.search(question, owner="bench", limit=8)
    return time.monotonic() - began


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
