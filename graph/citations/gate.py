"""`check`: the citation gate. It keeps, repairs or removes each sentence and says which."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.citations.numbering import Numbering
from graph.reasoner import Evidence
from graph.state import Citation, SentenceVerdict


@dataclass(frozen=True, slots=True)
class Checked:
    """What may be shown. `sentences` holds a verdict for each sentence of the raw text, in its
    order, with offsets into `markdown`; kept + repaired + removed == len(sentences)."""

    markdown: str
    citations: list[Citation]
    sentences: list[SentenceVerdict]
    kept: int
    repaired: int
    removed: int


def check(
    raw: str,
    evidence: Sequence[Evidence],
    numbers: Numbering,
    *,
    language: str,
    earlier: Sequence[str] = (),
) -> Checked:
    """Passes a section's raw Markdown (with `[S3]` marks) through the gate, sentence by sentence.

    Numbers are given only to what stays, so they are contiguous over the sections of a version
    when the same `numbers` goes through them in order. `earlier`: the Markdown of sections that
    stand before this one (raw or printed); a paragraph that repeats one of theirs is removed.
    A section of which nothing stays has an empty `markdown`. Pure: the same input gives the same
    output; never raises on bad text.
    """
    raise NotImplementedError
