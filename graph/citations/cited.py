"""`cite`: a writer's `[S3]` marks become printed numbers and exact citations."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.citations.numbering import Numbering
from graph.reasoner import Evidence
from graph.state import Citation


@dataclass(frozen=True, slots=True)
class Cited:
    """Markdown with `[1]` numbers; one citation per (sentence, source), in order of the text."""

    markdown: str
    citations: list[Citation]


def cite(raw: str, evidence: Sequence[Evidence], numbers: Numbering) -> Cited:
    """Turns marks into numbers, and checks nothing else: `check` is the gate.

    Read as marks: `[S3]`, `[S3][S4]`, `[S3, S4]`, `[s3]`, `【S3】`, `(S3)`. Ids that are not in
    the evidence are dropped from the text. Several `Evidence` may share one n: passages of one
    source. Every citation has snapshot.text[start:end] == quote, in code points of the snapshot:
    the span lies in one passage of its source, verbatim where the sentence quotes it, else the
    passage's sentences that hold most of its words.
    """
    raise NotImplementedError
