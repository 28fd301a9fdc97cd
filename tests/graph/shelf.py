"""A small library in memory over the real texts in `texts/`: the `Library` port for tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph.ports import Coverage, Passage, Ref
from graph.ranking import bm25
from graph.text.sentences import blocks
from graph.text.words import query_terms, terms

TEXTS = Path(__file__).parent / "texts"
_PASSAGE = 600  # characters


@dataclass
class Shelf:
    """Documents by key; `kept` holds what was asked to be kept, by thread."""

    documents: dict[str, str]
    snapshots: dict[str, str] = field(default_factory=dict[str, str])  # of pages of the web
    pending: int = 0
    failed: int = 0
    kept: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    searched: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, *names: str) -> "Shelf":
        """The named texts, or all of them."""
        paths = [TEXTS / name for name in names] or sorted(TEXTS.glob("*.md"))
        return cls({path.stem: path.read_text("utf-8") for path in paths})

    async def search(self, query: str, *, owner: str, limit: int) -> Sequence[Passage]:
        self.searched.append(query)
        passages = [p for key in self.documents for p in self.passages(key)]
        scores = bm25(query_terms(query), [terms(p.title + " " + p.text) for p in passages])
        best = sorted(range(len(passages)), key=lambda i: -scores[i])
        return [passages[i] for i in best if scores[i] > 0][:limit]

    async def read(self, refs: Sequence[Ref]) -> Sequence[str]:
        texts = {**self.documents, **self.snapshots}
        return [texts.get(ref.key, "")[ref.start : ref.end] for ref in refs]

    async def keep(self, thread_id: str, keys: Sequence[str]) -> None:
        self.kept.setdefault(thread_id, set()).update(keys)

    async def coverage(self, *, owner: str) -> Coverage:
        return Coverage(indexed=len(self.documents), pending=self.pending, failed=self.failed)

    def passages(self, key: str) -> list[Passage]:
        text = self.documents[key]
        title = text.split("\n", 1)[0].lstrip("# ")
        cuts = [0]
        for block in blocks(text):
            if block.kind == "heading" and block.start - cuts[-1] > _PASSAGE / 3:
                cuts.append(text.rfind("\n", 0, block.start) + 1)
        spans = zip(cuts, [*cuts[1:], len(text)], strict=True)
        return [
            Passage(
                ref=Ref(key, start, end),
                text=text[start:end],
                url=f"document:{key}.md",
                title=title,
                kind="document",
                date=None,
                score=0.0,
            )
            for start, end in spans
        ]
