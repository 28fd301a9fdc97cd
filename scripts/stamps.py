"""Stamps: what was set up, from which contents. A stamp that still fits saves the work."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path


def key(*parts: str | Path) -> str:
    """A hash over texts and over the names and contents of files."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        name = part.name if isinstance(part, Path) else ""
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()


def files(folder: Path, *, without: Iterable[str] = ()) -> Iterator[Path]:
    """All files under a folder in a fixed order, leaving out some top-level names."""
    skipped = set(without)
    for path in sorted(folder.iterdir()):
        if path.name in skipped:
            continue
        if path.is_dir():
            yield from files(path)
        elif path.is_file():
            yield path


def read(path: Path) -> dict[str, str]:
    """An absent or torn stamp is an empty one."""
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return {}


def write(path: Path, **values: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
