"""A report as one Markdown document: title, sections, numbered sources."""

import re
from typing import Any, Final
from urllib.parse import quote

from app.export.report import Report
from app.export.words import Words, words

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>&#|~])")


def to_markdown(report: Report) -> str:
    names = words(report["language"])
    parts = [f"# {plain(report['title'])}"]
    if report["partial"]:
        parts.append(f"> {names.partial}")
    for section in report["sections"]:
        parts.append(f"## {plain(section['title'])}")
        parts.append(str(section["markdown"]).strip())
    if report["sources"]:
        parts.append(f"## {names.sources}")
        parts.append("\n".join(f"- {_source(source, names)}" for source in report["sources"]))
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: str) -> str:
    """A text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def link(url: str) -> str | None:
    """The address with what could end it percent-encoded; None for what a browser cannot open."""
    if not url.lower().startswith(("http://", "https://")):
        return None
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~-._")


def _source(source: dict[str, Any], names: Words) -> str:
    url = link(source["url"])
    where = f"<{url}>" if url else f"{names.document}: {plain(_name(source['url']))}"
    date = f", {plain(source['date'])}" if source.get("date") else ""
    return f"[{source['number']}] {plain(source['title'])}. {where}{date}"


def _name(url: str) -> str:
    return url.removeprefix("document:")
