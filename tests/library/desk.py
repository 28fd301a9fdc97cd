"""A folder, a database and the library over them; indexing runs in this process."""

import os
from dataclasses import dataclass
from pathlib import Path

from app.library import DocumentLibrary, lease
from app.library.documents import Documents
from app.library.index import IndexRun
from app.library.roots import Root, survey
from registry.database import Database

READER = "reader"  # a user without documents of their own
HOLDER = "tests"


@dataclass(frozen=True, slots=True)
class Desk:
    folder: Path
    database: Database
    library: DocumentLibrary

    @classmethod
    def at(cls, folder: Path, database: Database) -> "Desk":
        return cls(folder, database, DocumentLibrary(database))

    def write(self, name: str, content: str | bytes) -> None:
        """A file of the folder; written again it counts as changed whatever the clock says."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        later = path.stat().st_mtime_ns + 1_000_000_000 if path.exists() else None
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if later is not None:
            os.utime(path, ns=(later, later))

    async def rescan(self) -> None:
        await Documents(self.database).reconcile(survey((Root(self.folder),)))

    async def index(self) -> None:
        """Looks at the folder and reads what changed, as the service and its process do."""
        await self.rescan()
        await self.read()

    async def read(self) -> None:
        """Reads what is queued."""
        assert await lease.take(self.database, HOLDER)
        await IndexRun(self.database, HOLDER, quiet=True).run()
        await lease.give_back(self.database, HOLDER)

    async def found(self, query: str, owner: str = READER, limit: int = 8) -> list[str]:
        """Names of the documents of the hits, best first."""
        hits = await self.library.search(query, owner=owner, limit=limit)
        return list(dict.fromkeys(hit.url.removeprefix("document:") for hit in hits))

    async def statuses(self) -> dict[str, tuple[str, str | None]]:
        """(status, reason) by name."""
        listed = await self.library.listing(owner=READER)
        return {item["name"]: (item["status"], item["reason"]) for item in listed}
