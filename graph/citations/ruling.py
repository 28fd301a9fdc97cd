"""The ruling on one sentence: kept, repaired or removed, on which spans, and why."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from graph.citations.marks import MARK, NOTE, Marks
from graph.citations.shelf import Claim, Shelf, Span
from graph.citations.support import judge, rescue

Verdict = Literal["kept", "repaired", "removed"]

_REMNANT: Final = re.compile(
    r"(?i)\b(?:example\.(?:com|org|net)|your-?(?:domain|site|company|url)\.\w+|"
    r"placeholder\.\w+|lorem ipsum|as an ai\b|(?:large )?language model,? i\b|"
    r"i (?:can(?:no|')t|am unable to) (?:browse|access)|my (?:training data|knowledge cutoff)|"
    r"citation needed|(?:the )?(?:evidence|findings) block|end of (?:evidence|data))"
    r"|\[(?:insert|your|todo|source|citation|placeholder|title|author|date|name)\b[^\]]*\]"
    r"|\{\{.*?\}\}|\bTODO\b|<{2,}\s*\w*|\w*\s*>{2,}|作为(?:一个|一款)?(?:AI|人工智能|语言模型)"
)
_TAIL: Final = re.compile(r"[.!?。！？…:：;；,，]*[\"'”’」』》)）*_]*\s*$")
_CJK: Final = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@dataclass
class Ruled:
    """`text` still holds mark characters; `cited` says what each one prints, in order."""

    text: str
    verdict: Verdict
    reason: str | None = None
    cited: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    spans: dict[int, Span] = field(default_factory=dict[int, Span])
    added: list[int] = field(default_factory=list[int])  # printed before the final stop
    uncited: bool = False  # removed for want of a source alone

    @property
    def sources(self) -> list[int]:
        return list(self.spans)


def rule(sentence: str, marks: Marks, shelf: Shelf, language: str, near: Iterable[int]) -> Ruled:
    """Rules on a sentence with hidden marks; `near`: sources cited around it."""
    claim = Claim.of(sentence)
    if not claim.flat:
        return Ruled(sentence, "removed", "nothing is said")
    remnant = _REMNANT.search(claim.text)
    if remnant and remnant[0].casefold() not in shelf.literal.casefold():
        return Ruled(sentence, "removed", f"placeholder or prompt text: {remnant[0][:40]}")
    written = list(dict.fromkeys(n for char in sentence for n in marks.ids(char)))
    known = [n for n in written if n in shelf]
    repairs = ["link, image or markup made inert"] if NOTE in sentence else []
    unknown = [n for n in written if n not in shelf]
    if unknown:
        repairs.append(f"unknown source dropped: {_named(unknown)}")
    first = judge(claim, known, shelf, language) if known else None
    if first and first.fault is None:
        idle = [n for n in known if n not in first.spans]
        if idle:
            repairs.append(f"source that does not say this dropped: {_named(idle)}")
        cited = _placed(sentence, marks, first.spans)
        if not repairs:
            return Ruled(sentence, "kept", first.note, cited, first.spans)
        reason = "; ".join([*repairs, *([first.note] if first.note else [])])
        return Ruled(sentence, "repaired", reason, cited, first.spans)
    found = rescue(claim, shelf, language, near=near, tried=known)
    if found.fault is None:
        what = f"source corrected from {_named(known)}" if known else "source added"
        reason = "; ".join([*repairs, what])
        added = list(found.spans)
        return Ruled(sentence, "repaired", reason, {}, found.spans, added)
    reason = (first.fault if first else None) or (
        f"unknown source: {_named(unknown)}" if unknown else "no source given or found"
    )
    return Ruled(sentence, "removed", reason, uncited=not written)


def attached(text: str, marks: str) -> str:
    """The sentence with `marks` put before its final stop."""
    tail = _TAIL.search(text)
    at = tail.start() if tail else len(text)
    gap = "" if at and _CJK.match(text[at - 1]) else " "
    return f"{text[:at]}{gap}{marks}{text[at:]}"


def _placed(sentence: str, marks: Marks, spans: dict[int, Span]) -> dict[str, list[int]]:
    """What each mark of the sentence prints; the same source twice in a row prints once."""
    out: dict[str, list[int]] = {}
    before: list[int] = []
    for match in MARK.finditer(sentence):
        beside = MARK.match(sentence[: match.start()].rstrip()[-1:])
        before = before if beside else []
        out[match[0]] = [n for n in marks.ids(match[0]) if n in spans and n not in before]
        before = [*before, *out[match[0]]]
    return out


def _named(ids: Sequence[int]) -> str:
    return ", ".join(f"S{n}" for n in ids)
