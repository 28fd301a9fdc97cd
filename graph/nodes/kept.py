"""Sections that stay as they are: only their index and their printed numbers may change."""

import re
from typing import Final

from graph.citations import Numbering
from graph.state import Section

_NUMBER: Final = re.compile(r"\[(\d+)\]")


def renumbered(section: Section, index: int, numbers: Numbering) -> Section:
    """The section with numbers by first use in `numbers`; each sentence keeps its verdict."""
    sources = {c["number"]: c["n"] for c in section["citations"]}
    moved: list[tuple[int, int]] = []  # (where in the old text, by how much longer)

    def number(match: re.Match[str]) -> str:
        n = sources.get(int(match[1]))
        if n is None:
            return match[0]
        text = f"[{numbers.of(n)}]"
        moved.append((match.end(), len(text) - len(match[0])))
        return text

    markdown = _NUMBER.sub(number, section["markdown"])

    def at(offset: int) -> int:
        return offset + sum(more for end, more in moved if end <= offset)

    return {
        **section,
        "index": index,
        "markdown": markdown,
        "citations": [{**c, "number": numbers.of(c["n"])} for c in section["citations"]],
        "sentences": [
            {**s, "start": at(s["start"]), "end": at(s["end"])} for s in section["sentences"]
        ],
    }
