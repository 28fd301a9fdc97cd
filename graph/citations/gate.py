"""`check`: the citation gate. It keeps, repairs or removes each sentence and says which.

What it holds to, whatever a writer sends:
1. Every printed number resolves to a source and has its own citation, in the order of the text;
   the quote is exactly the snapshot's text at its offsets.
2. Every sentence is supported by the spans it cites (`support.py` has the rules); one without a
   source gets one that supports it, or goes.
3. No paragraph, list item, table row or block of code stands without a source. A short lead-in
   ("There are three:") lives on the list below it, in one block with it.
4. Headings stand only over text that stands, and state no figure that the evidence does not.
5. Links, images and HTML are inert; addresses stay only where the evidence has them, as code.
6. Placeholders, prompt text, private thoughts and repeats go; open fences and tables are closed.
Nothing passes in silence: each sentence, table row and block of code has a verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.citations.blocks import indents, parse
from graph.citations.inert import readable
from graph.citations.judged import Bench, Judged
from graph.citations.marks import ADDED, Marks
from graph.citations.numbering import Numbering
from graph.citations.printed import Printed
from graph.citations.repeats import Repeats
from graph.citations.ruling import Ruled, attached
from graph.citations.shelf import Shelf
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
    bench = Bench(Shelf(evidence), Marks(), Repeats(earlier), language)
    judged: list[Judged] = []
    near: list[int] = []
    blocks = parse(readable(raw))
    for block in blocks:
        judged.append(bench.judge(block, near, final=block is blocks[-1]))
        near = [n for r in judged[-1].ruled for n in r.spans] or near
    _settle_leads(judged)
    _settle_indents(judged)
    printed = Printed(numbers)
    for previous, item, hidden in _layout(judged):
        if hidden:
            for ruled in item.ruled:
                _verdict(printed, printed.length, ruled)
        else:
            _print(printed, previous, item)
    counts = [v["verdict"] for v in printed.sentences]
    return Checked(
        printed.markdown,
        printed.citations,
        printed.sentences,
        counts.count("kept"),
        counts.count("repaired"),
        counts.count("removed"),
    )


def _settle_leads(judged: list[Judged]) -> None:
    """A lead-in goes where nothing of the list below it stands."""
    for place, item in enumerate(judged):
        if not item.lead:
            continue
        below = judged[place + 1 :]
        listed = next((i for i, j in enumerate(below) if j.block.kind != "item"), len(below))
        if not any(j.stands for j in below[:listed]):
            item.ruled[-1] = Ruled(item.ruled[-1].text, "removed", "leads into nothing")
            item.lead = False


def _settle_indents(judged: list[Judged]) -> None:
    standing = [j for j in judged if j.block.kind != "item" or j.stands]
    run: list[Judged] = []
    for item in [*standing, None]:
        if item is not None and item.block.kind == "item":
            run.append(item)
            continue
        for member, prefix in zip(run, indents([m.block.prefix for m in run]), strict=True):
            member.block.prefix = prefix
        run = []


def _layout(judged: list[Judged]) -> list[tuple[Judged | None, Judged, bool]]:
    """(block printed before, block, is it left out) in order; empty headings are left out."""
    out: list[tuple[Judged | None, Judged, bool]] = []
    pending: list[Judged] = []
    previous: Judged | None = None
    for item in judged:
        if item.block.kind == "heading":
            level = len(item.block.prefix)
            pending = [h for h in pending if len(h.block.prefix) < level]
        if item.block.kind == "heading" and not item.ruled:
            pending.append(item)
        elif item.stands:
            for heading in pending:
                out.append((previous, heading, False))
                previous = heading
            pending = []
            out.append((previous, item, False))
            previous = item
        else:
            out.append((previous, item, True))
    return out


def _print(printed: Printed, previous: Judged | None, item: Judged) -> None:
    block = item.block
    if previous is not None:
        listed = block.kind == "item" and (previous.block.kind == "item" or previous.lead)
        printed.text("\n" if listed else "\n\n")
    printed.text(block.prefix)
    if block.kind == "heading":
        printed.text(block.text)
    elif block.kind == "code":
        start = printed.length
        printed.text("\n".join([*block.head, *block.rows, *block.tail]) + "\n")
        printed.sources(item.ruled[0].added, item.ruled[0].spans)
        _verdict(printed, start, item.ruled[0])
    else:
        printed.text("\n".join(block.head))
        _print_ruled(printed, item)


def _print_ruled(printed: Printed, item: Judged) -> None:
    first = not item.block.head
    owed = False
    for gap, ruled in zip(item.gaps, item.ruled, strict=True):
        owed = owed or bool(gap)
        if ruled.verdict == "removed":
            _verdict(printed, printed.length, ruled)
            continue
        if not first and owed:
            printed.text("\n" if item.block.kind == "table" else " ")
        first = owed = False
        start = printed.length
        text, cited = ruled.text, ruled.cited
        if ruled.added:
            text, cited = _with_added(ruled, table=item.block.kind == "table")
        printed.marked(text, cited, ruled.spans)
        _verdict(printed, start, ruled)


def _with_added(ruled: Ruled, *, table: bool) -> tuple[str, dict[str, list[int]]]:
    """The sentence with one mark, before its end, for the sources that a repair gave it."""
    if not table:
        return attached(ruled.text, ADDED), {ADDED: ruled.added}
    filled = ruled.text.rstrip(" |")
    return f"{attached(filled, ADDED)}{ruled.text[len(filled) :]}", {ADDED: ruled.added}


def _verdict(printed: Printed, start: int, ruled: Ruled) -> None:
    verdict = SentenceVerdict(start=start, end=start, verdict=ruled.verdict)
    if ruled.reason:
        verdict["reason"] = ruled.reason
    printed.verdict(start, verdict)
