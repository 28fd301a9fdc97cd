"""A block of a section with the rulings on its sentences, rows or code."""

import re
from dataclasses import dataclass, field
from typing import Final

from graph.citations.blocks import Block
from graph.citations.figures import figures, missing
from graph.citations.inert import inert
from graph.citations.marks import CODE_SPAN, MARK, NOTE, Marks, drawn_in, plain
from graph.citations.repeats import Repeats
from graph.citations.ruling import Ruled, rule
from graph.citations.shelf import Claim, Shelf, Span
from graph.text.sentences import spans

_LEAD: Final = re.compile(r"[:：][*_]*\s*$")
_STOP: Final = re.compile(r"[.!?。！？…:：;；][\"'”’」』》)）*_`]*\s*$")
_LEAD_TERMS: Final = 14  # a longer lead-in says something of its own
_FRAGMENT: Final = 4  # letters and digits of a "sentence" that is only a number or an initial
_CODE_ENOUGH: Final = 0.8  # of the lines of a block of code occur in the evidence


@dataclass
class Judged:
    """`ruled` in the order of the text; `gaps[i]` is the blank before sentence i."""

    block: Block
    ruled: list[Ruled] = field(default_factory=list[Ruled])
    gaps: list[str] = field(default_factory=list[str])
    lead: bool = False  # ends in a lead-in that stands only with the list below it

    @property
    def stands(self) -> bool:
        return any(r.verdict != "removed" for r in self.ruled)


@dataclass(frozen=True)
class Bench:
    """What all rulings on one section share."""

    shelf: Shelf
    marks: Marks
    repeats: Repeats
    language: str

    def judge(self, block: Block, near: list[int], *, final: bool) -> Judged:
        """Rules on a block; `near`: sources cited just before, tried first in repairs; `final`:
        it is the last one, so that its last sentence may have been cut off."""
        if block.kind == "heading":
            return self._heading(block)
        if block.kind == "table":
            return self._table(block, near)
        if block.kind == "code":
            return self._code(block)
        return self._prose(block, near, final=final)

    def _hidden(self, text: str) -> str:
        literal = self.shelf.literal
        return self.marks.hide(inert(text, literal), literal)

    def _prose(self, block: Block, near: list[int], *, final: bool) -> Judged:
        text = drawn_in(self._hidden(block.text)).strip()
        out = Judged(block)
        parts = _sentences(text, self.language)
        if self.repeats.has(text):
            out.ruled = [Ruled(s, "removed", "repeats an earlier paragraph") for _, s in parts]
            out.gaps = [gap for gap, _ in parts]
            return out
        own = [n for char in text for n in self.marks.ids(char)]
        around = [*dict.fromkeys([*own, *near])]
        for gap, sentence in parts:
            out.gaps.append(gap)
            ruled = rule(sentence, self.marks, self.shelf, self.language, around)
            if ruled.verdict != "removed" and self.repeats.said(sentence):
                ruled = Ruled(sentence, "removed", "repeats an earlier sentence")
            out.ruled.append(ruled)
        last = out.ruled[-1] if out.ruled else None
        if last and last.uncited and _is_lead(last.text):
            out.ruled[-1] = Ruled(last.text, "kept", "leads into the list below")
            out.lead = True
        if last and last.added and final and not _STOP.search(last.text):
            out.ruled[-1] = Ruled(last.text, "removed", "cut off in the middle")
        _unbolded(out)
        if out.stands and not out.lead:
            self.repeats.add(text)
        return out

    def _heading(self, block: Block) -> Judged:
        text = MARK.sub("", self._hidden(block.text)).replace(NOTE, "").strip()
        absent = missing(figures(plain(text)), [self.shelf.literal])
        if not text or absent:
            reason = f"not in the evidence: {', '.join(f.text for f in absent)}"
            return Judged(block, [Ruled(text, "removed", reason)], [""])
        block.text = text
        return Judged(block)

    def _table(self, block: Block, near: list[int]) -> Judged:
        block.head = [MARK.sub("", self._hidden(line)).replace(NOTE, "") for line in block.head]
        absent = missing(figures(block.head[0]), [self.shelf.literal])
        out = Judged(block)
        for row in block.rows:
            hidden = self._hidden(row)
            if absent:
                reason = f"column not in the evidence: {', '.join(f.text for f in absent)}"
                out.ruled.append(Ruled(hidden, "removed", reason))
            else:
                own = [n for char in hidden for n in self.marks.ids(char)]
                out.ruled.append(rule(hidden, self.marks, self.shelf, self.language, [*own, *near]))
        if not out.ruled:
            out.ruled = [Ruled(block.head[0], "removed", "a table without rows")]
        out.gaps = ["\n"] * len(out.ruled)
        return out

    def _code(self, block: Block) -> Judged:
        """Code stands where its lines are the evidence's own; it cites where they are found."""
        block.rows = [MARK.sub("", self.marks.hide(line)).rstrip() for line in block.rows]
        claims = [Claim(line) for line in block.rows]
        lines = [claim for claim in claims if claim.flat]
        text = "\n".join(block.rows)
        best: tuple[float, int | None] = (0.0, None)
        for n in self.shelf.numbers:
            found = sum(self.shelf.holds(n, claim.flat) for claim in lines)
            best = max(best, (found / max(1, len(lines)), n), key=lambda pair: pair[0])
        share, n = best
        if n is None or share < _CODE_ENOUGH:
            return Judged(block, [Ruled(text, "removed", "code that no source has")], [""])
        span: dict[int, Span] = {n: self.shelf.find(Claim(text), n)}
        kept = Ruled(text, "kept", "code of the source", spans=span, added=[n])
        return Judged(block, [kept], [""])


def _sentences(text: str, language: str) -> list[tuple[str, str]]:
    """(blank before, sentence) pairs. Fragments such as "1." go with what follows them."""
    out: list[tuple[str, str]] = []
    done = 0
    held: int | None = None
    for start, end in spans(text, 0, len(text), language):
        begin = start if held is None else held
        part = text[begin:end]
        cut = "`" in CODE_SPAN.sub("", part)  # a full stop inside code
        if end < len(text) and (cut or len(Claim.of(part).flat) < _FRAGMENT):
            held = begin
            continue
        held = None
        out.append((" " if begin > done else "", part))
        done = end
    if held is not None and out:
        out[-1] = (out[-1][0], out[-1][1] + text[done:])
    elif held is not None:
        out.append(("", text[held:]))
    return out


def _is_lead(text: str) -> bool:
    claim = Claim.of(text)
    return bool(_LEAD.search(claim.text)) and not claim.figures and len(claim.terms) <= _LEAD_TERMS


def _unbolded(judged: Judged) -> None:
    """Emphasis whose other half went with a removed sentence goes too."""
    if all(r.verdict != "removed" for r in judged.ruled):
        return
    for ruled in judged.ruled:
        if ruled.text.count("**") % 2:
            ruled.text = ruled.text.replace("**", "")
