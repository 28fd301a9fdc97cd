"""What the documents say exists, and what exists is in the documents."""

import re
from pathlib import Path
from typing import Final

import pytest

from app.api import commands, documents, events, operations, reports, threads
from app.settings import Settings
from graph.events import RESEARCH_EVENTS
from registry.events import LIFECYCLE
from tests.services import PROJECT

GUIDES: Final = sorted(
    [PROJECT / "README.md", PROJECT / "ARCHITECTURE.md", *(PROJECT / "docs").rglob("*.md")]
)
ROUTERS: Final = (commands, documents, events, operations, reports, threads)
_LINK: Final = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCE: Final = re.compile(r"```.*?```", re.DOTALL)
_PATH: Final = re.compile(r"`((?:app|docs|frontend|graph|registry|tests|bench|scripts)/[\w./-]*)`")
_SLUGS: Final = re.compile(
    r"(?:Problem|_conflict|Fault)\(\s*\"([a-z-]+)\"|\"/problems/([a-z-]+)\"|slug = \"([a-z-]+)\""
)


def text_of(name: str) -> str:
    return (PROJECT / name).read_text("utf-8")


def test_every_setting_is_in_the_readme() -> None:
    named = set(re.findall(r"`([A-Z][A-Z_]+)`", text_of("README.md")))
    assert {name.upper() for name in Settings.model_fields} - named == set()


def test_every_event_is_described() -> None:
    described = text_of("docs/events.md")
    names = {*LIFECYCLE, *RESEARCH_EVENTS, "gap"}
    assert {
        name for name in names if not re.search(rf"^{name} +\{{", described, re.MULTILINE)
    } == set()


def test_every_route_is_described() -> None:
    described = text_of("docs/api.md")
    paths = {getattr(route, "path", "") for module in ROUTERS for route in module.router.routes}
    shown = {re.sub(r"\{thread_id\}", "{id}", path) for path in paths}
    assert {path for path in shown if f"{path}`" not in described} == set()


def test_every_problem_has_its_line() -> None:
    found: set[str] = set()
    for folder in ("app", "graph", "registry"):
        for file in (PROJECT / folder).rglob("*.py"):
            for match in _SLUGS.finditer(file.read_text("utf-8")):
                found.add(next(slug for slug in match.groups() if slug))
    rows = re.findall(r"^\| ([a-z, -]+) \| \d{3} \|", text_of("docs/api.md"), re.MULTILINE)
    assert found - {slug for row in rows for slug in row.split(", ")} - {"http"} == set()


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_links_and_paths_lead_somewhere(guide: Path) -> None:
    text = _FENCE.sub("", guide.read_text("utf-8"))
    local = [link.partition("#")[0] for link in _LINK.findall(text) if "://" not in link]
    gone = [link for link in local if link and not (guide.parent / link).exists()]
    gone += [path for path in _PATH.findall(text) if not (PROJECT / path).exists()]
    assert gone == []
