"""`Printed`: the text as it is shown, with its citations and verdicts at exact offsets."""

from collections.abc import Mapping, Sequence

from graph.citations.marks import MARK, NOTE
from graph.citations.numbering import Numbering
from graph.citations.shelf import Span
from graph.state import Citation, SentenceVerdict


class Printed:
    """Grows a Markdown text. Each printed mark has its citation, in the order of the text."""

    def __init__(self, numbers: Numbering) -> None:
        self._numbers = numbers
        self._parts: list[str] = []
        self._length = 0
        self._last = ""
        self.citations: list[Citation] = []
        self.sentences: list[SentenceVerdict] = []

    @property
    def length(self) -> int:
        """Code points so far."""
        return self._length

    @property
    def markdown(self) -> str:
        return "".join(self._parts)

    def text(self, text: str) -> None:
        """Adds text as it is."""
        if text:
            if text[0] == "(" and self._last == "]":  # would read as a link
                text = f" {text}"
            self._parts.append(text)
            self._length += len(text)
            self._last = text[-1]

    def sources(self, ids: Sequence[int], spans: Mapping[int, Span]) -> None:
        """Prints the numbers of these sources, and cites their spans."""
        for n in ids:
            span = spans[n]
            evidence = span.piece.evidence
            self.citations.append(
                Citation(
                    number=self._numbers.of(n),
                    n=n,
                    start=evidence.ref.start + span.start,
                    end=evidence.ref.start + span.end,
                    quote=span.quote,
                )
            )
            self.text(f"[{self.citations[-1]['number']}]")

    def marked(
        self, text: str, cited: Mapping[str, Sequence[int]], spans: Mapping[int, Span]
    ) -> None:
        """Adds text with hidden marks; a mark that prints nothing takes its blank with it."""
        done = 0
        text = text.replace(NOTE, "")
        for match in MARK.finditer(text):
            ids = cited.get(match[0], ())
            before = text[done : match.start()]
            self.text(before if ids else before.rstrip(" "))
            self.sources(ids, spans)
            done = match.end()
        self.text(text[done:])

    def verdict(self, start: int, verdict: SentenceVerdict) -> None:
        """Records a verdict on what was printed since `start`."""
        self.sentences.append({**verdict, "start": start, "end": self._length})
