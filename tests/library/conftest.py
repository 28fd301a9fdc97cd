"""The desk: an empty folder over a fresh database."""

from pathlib import Path

import pytest

from registry.database import Database
from tests.library.desk import Desk


@pytest.fixture
def desk(tmp_path: Path, database: Database) -> Desk:
    folder = tmp_path / "documents"
    folder.mkdir()
    return Desk.at(folder, database)
