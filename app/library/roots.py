"""Which files are documents: the folder of the settings, and the project's own texts."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.library.formats.read import SUFFIXES
from registry.errors import StartRefused

PROJECT: Final = Path(__file__).resolve().parent.parent.parent
MOST_FILES: Final = 100_000
_SKIPPED: Final = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Root:
    """A folder; `only` names what of it counts, where not all does."""

    path: Path
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A file as the file system describes it."""

    root: str
    name: str  # relative to the root, with slashes
    size: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Survey:
    """`unseen`: (root, prefix of names) that could not be looked at, and why.

    Nothing is known of what is there: it is not taken for gone.
    """

    found: tuple[Found, ...]
    unseen: dict[tuple[str, str], str]


def roots_of(documents_dir: Path | None, project: Path = PROJECT) -> tuple[Root, ...]:
    """Raises `StartRefused` where the folder that was asked for is not there."""
    sample = Root(project, ("README.md", "ARCHITECTURE.md", "docs"))
    if documents_dir is None:
        folder = project / "documents"
        return (Root(folder), sample) if folder.is_dir() else (sample,)
    folder = documents_dir.expanduser()
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise StartRefused(
            f"DOCUMENTS_DIR: {folder} {what}: create it, or set DOCUMENTS_DIR to another"
        )
    return Root(folder.resolve()), sample


def survey(roots: tuple[Root, ...]) -> Survey:
    """Looks at all roots. A walk of the file system: for a thread, not for the loop."""
    found: dict[str, Found] = {}  # by real path: a file counts once
    unseen: dict[tuple[str, str], str] = {}
    for root in roots:
        for path, entry in _walk(root, unseen):
            if len(found) >= MOST_FILES:
                unseen[str(root.path), ""] = f"there are more than {MOST_FILES:,} documents"
                break
            try:
                status = entry.stat()
            except OSError:
                continue  # gone, or a link to nowhere
            real = os.path.realpath(entry.path)
            changed = max(status.st_mtime_ns, status.st_ctime_ns)
            found.setdefault(real, Found(str(root.path), path, status.st_size, changed))
    return Survey(tuple(found.values()), unseen)


def _walk(root: Root, unseen: dict[tuple[str, str], str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Files with a known suffix, links followed, hidden ones and loops left out."""
    seen: set[tuple[int, int]] = set()
    stack = [""]
    while stack:
        prefix = stack.pop()
        folder = root.path / prefix
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            unseen[str(root.path), prefix] = error.strerror or type(error).__name__
            continue
        for entry in entries:
            name = f"{prefix}/{entry.name}" if prefix else entry.name
            if entry.name.startswith(".") or entry.name in _SKIPPED or not _utf8(name):
                continue
            if root.only and not prefix and entry.name not in root.only:
                continue
            if entry.is_dir():
                stack.append(name)
            elif os.path.splitext(entry.name)[1].lower() in SUFFIXES and entry.is_file():  # noqa: PTH122
                yield name, entry


def _utf8(name: str) -> bool:
    """Postgres stores no other names; such a file must be renamed to be read."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
