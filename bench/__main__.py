"""`python -m bench [NAME ...]`: runs benchmarks, prints a table, writes bench/results.json.

Exits with 1 where a figure misses its bound.
"""

import importlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import Figure

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"


def names() -> list[str]:
    return sorted(p.stem for p in FOLDER.glob("*.py") if not p.stem.startswith("_"))


def run(name: str) -> Iterable[Figure]:
    """The figures of one module, as they come."""
    return importlib.import_module(f"bench.{name}").measure()


def main(wanted: list[str]) -> int:
    console = Console()
    known = names()
    unknown = [name for name in wanted if name not in known]
    if unknown:
        console.print(f"No benchmark {unknown[0]!r}: one of {', '.join(known) or 'none yet'}")
        return 2
    table = Table("benchmark", "figure", "value", "unit", "bound", "")
    results: list[dict[str, object]] = []
    missed = False
    for name in wanted or known:
        for figure in run(name):
            sign = "<=" if figure.better == "lower" else ">="
            bound = "" if figure.bound is None else f"{sign} {figure.bound:g}"
            value = f"{figure.value:,.4g}"
            table.add_row(
                name, figure.name, value, figure.unit, bound, "" if figure.kept else "MISSED"
            )
            results.append({"benchmark": name, **asdict(figure), "kept": figure.kept})
            missed |= not figure.kept
    console.print(table)
    head = {
        "ts": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }
    RESULTS.write_text(json.dumps({**head, "figures": results}, indent=2) + "\n")
    return 1 if missed else 0


sys.exit(main(sys.argv[1:]))
