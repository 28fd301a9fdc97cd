"""The written questions, asked of the project's own documents as the service indexes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from app.library import DocumentLibrary, Indexer
from graph.ports import Passage
from registry.database import Database
from tests.library.questions import QUESTIONS
from tests.services import PROJECT

FIRST: Final = 5  # passages that a reader looks at
SAMPLE: Final = ("README.md", "ARCHITECTURE.md", "docs")


@pytest.fixture
async def library(database: Database, tmp_path: Path) -> DocumentLibrary:
    """The sample alone: a `documents/` folder that somebody keeps here does not count."""
    for name in SAMPLE:
        (tmp_path / name).symlink_to(PROJECT / name)
    made = DocumentLibrary(database)
    await Indexer(database.url, None, made, project=tmp_path).loop.work()
    return made


def sources(passages: Sequence[Passage]) -> list[str]:
    """Names of the documents in the order of their best passages."""
    return list(dict.fromkeys(passage.url.removeprefix("document:") for passage in passages))


async def test_the_expected_document_is_among_the_first_five(library: DocumentLibrary) -> None:
    missed: list[str] = []
    for question, expected in QUESTIONS:
        found = sources(await library.search(question, owner="local", limit=FIRST))
        if expected not in found:
            missed.append(f"{question} -> {found}, expected {expected}")
    assert not missed, "\n".join(missed)


def test_there_are_twenty_questions_and_five_are_chinese() -> None:
    chinese = [question for question, _ in QUESTIONS if not question.isascii()]
    assert (len(QUESTIONS), len(chinese)) == (20, 5)
    assert all((PROJECT / document).is_file() for _, document in QUESTIONS)


async def test_every_document_of_the_sample_can_be_read(library: DocumentLibrary) -> None:
    listed = await library.listing(owner="local")
    assert [item for item in listed if item["status"] != "ready"] == []
    assert {document for _, document in QUESTIONS} <= {item["name"] for item in listed}
