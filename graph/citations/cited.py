"""`cite`: a writer's `[S3]` marks become printed numbers and exact citations."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.citations.inert import readable
from graph.citations.marks import MARK, Marks, drawn_in
from graph.citations.numbering import Numbering
from graph.citations.printed import Printed
from graph.citations.shelf import Claim, Shelf, Span, units
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
    shelf = Shelf(evidence)
    marks = Marks()
    text = drawn_in(marks.hide(readable(raw), shelf.literal))
    printed = Printed(numbers)
    done = 0
    for start, end in units(text):
        sentence = text[start:end]
        claim = Claim.of(sentence)
        cited = {c: [n for n in marks.ids(c) if n in shelf] for c in MARK.findall(sentence)}
        spans: dict[int, Span] = {}
        for n in dict.fromkeys(n for ids in cited.values() for n in ids):
            spans[n] = shelf.find(claim, n)
        printed.marked(text[done:start], {}, {})
        printed.marked(sentence, cited, spans)
        done = end
    printed.marked(text[done:], {}, {})
    return Cited(printed.markdown, printed.citations)
