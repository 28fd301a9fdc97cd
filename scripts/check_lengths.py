"""Fails on source files over 300 lines and on file names that say nothing.

A file holds one noun. One that grew past the limit holds more, and one called `utils` none.
"""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LIMIT = 300
SUFFIXES = frozenset({".py", ".ts", ".tsx", ".css"})
SAY_NOTHING = frozenset({"util", "utils", "helper", "helpers", "manager", "managers", "misc"})


def sources() -> list[Path]:
    """What git tracks or would track, generated files (`*.gen.*`) left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    paths = [PROJECT / name for name in listed.split("\0") if name]
    return [p for p in paths if p.suffix in SUFFIXES and ".gen." not in p.name and p.is_file()]


def complaints(paths: list[Path]) -> list[str]:
    found: list[str] = []
    for path in paths:
        name = path.relative_to(PROJECT)
        lines = len(path.read_text("utf-8").splitlines())
        if lines > LIMIT:
            found.append(f"{name}: {lines} lines, {LIMIT} are allowed: it holds more than one noun")
        if path.stem.lower() in SAY_NOTHING:
            found.append(f"{name}: the name does not say what is in it")
    return found


def main() -> int:
    paths = sources()
    found = complaints(paths)
    print("\n".join(found) or f"lengths: {len(paths)} files, none over {LIMIT} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
