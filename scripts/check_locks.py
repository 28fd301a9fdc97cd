"""Fails where a lock file names an address of an index, or pins a package without a hash."""

import json
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def python_lock(path: Path) -> list[str]:
    """Complaints about one compiled requirements file."""
    text = path.read_text("utf-8")
    name = path.relative_to(PROJECT)
    found: list[str] = []
    entries = re.sub(r"\\\n\s*", " ", text).splitlines()
    for entry in entries:
        if not entry.strip() or entry.startswith("#"):
            continue
        if "://" in entry or re.match(r"-(i|f|-index-url|-extra-index-url|-find-links)\b", entry):
            found.append(f"{name}: an address of an index: {entry[:60]}")
        elif "==" not in entry:
            found.append(f"{name}: not pinned: {entry[:60]}")
        elif "--hash=sha256:" not in entry:
            found.append(f"{name}: no hash: {entry[:60]}")
    return found if entries else [f"{name}: empty"]


def npm_lock(path: Path) -> list[str]:
    """Complaints about a package-lock.json."""
    name = path.relative_to(PROJECT)
    packages: dict[str, dict[str, object]] = json.loads(path.read_text("utf-8"))["packages"]
    found: list[str] = []
    for package, entry in packages.items():
        if "resolved" in entry:
            found.append(f"{name}: {package}: an address of a registry")
        if package and not entry.get("link") and "integrity" not in entry:
            found.append(f"{name}: {package}: no hash")
    return found


def main() -> int:
    locks = sorted((PROJECT / "requirements").glob("*.txt"))
    sources = sorted((PROJECT / "requirements").glob("*.in"))
    found = [c for path in locks for c in python_lock(path)]
    found += [
        f"{path.relative_to(PROJECT)}: not compiled: make lock"
        for path in sources
        if path.with_suffix(".txt") not in locks
    ]
    found += npm_lock(PROJECT / "frontend" / "package-lock.json")
    print("\n".join(found) or f"locks: {len(locks) + 1} files, all pinned by hash, no address")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
