"""The terminal's side of a run: what is shown of its events, and how a person answers.

All of it goes to stderr, so that stdout carries the report and nothing else. Text that
others wrote is stripped of control characters before a terminal sees it.
"""

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

NODES: Final = {
    "intent": "Understanding the question",
    "scope": "Taking a first look",
    "plan": "Planning",
    "retrieve": "Searching",
    "read": "Reading",
    "analyse": "Analysing",
    "reflect": "Looking for gaps",
    "write": "Writing",
    "verify": "Checking citations",
    "finish": "Finishing",
}
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: object) -> str:
    """The text without anything that could steer a terminal; line ends and tabs stay."""
    return _CONTROL.sub("", str(text))


def events_of(batch: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and data of each event of a batch of whole frames; comments are passed over."""
    for frame in batch.split(b"\n\n"):
        fields = dict(line.split(b": ", 1) for line in frame.split(b"\n") if b": " in line)
        if b"event" in fields:
            yield fields[b"event"].decode(), msgspec.json.decode(fields[b"data"])


class Screen:
    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._status = self._console.status("")
        self._writing = False  # a section's tokens are on the screen, without a line end
        self._planned: list[str] = []  # titles of the plan as it was shown last

    @property
    def interactive(self) -> bool:
        """A person sits in front of it and can be asked."""
        return sys.stdin.isatty() and self._console.is_terminal

    def note(self, text: str, style: str = "") -> None:
        self._end_line()
        self._console.print(Text(harmless(text), style=style))

    def busy(self, text: str) -> None:
        """A moving line where there is a terminal; nothing elsewhere."""
        self._end_line()
        self._status.update(Text(harmless(text)))
        self._status.start()

    def rest(self) -> None:
        self._status.stop()
        self._end_line()

    def _end_line(self) -> None:
        if self._writing:
            self._console.file.write("\n")
            self._console.file.flush()
            self._writing = False

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Shows one event of the run; what a reader need not see is passed over."""
        match name:
            case "node.started" if data.get("node") in NODES:
                self.busy(NODES[data["node"]])
            case "plan":
                self.plan(data["steps"])
            case "search":
                self.note(f"  searched: {data['query']} ({data.get('hits', 0)})", "dim")
            case "search.failed" | "source.failed":
                self.note(f"  {name}: {data.get('reason', '')}", "yellow")
            case "source":
                self.note(f"  [{data['n']}] {data['title']}", "dim")
            case "section.started":
                self._status.stop()
                self.note(f"\n{data['title']}", "bold")
            case "token":
                self._status.stop()
                self._writing = True
                self._console.file.write(harmless(data["text"]))
                self._console.file.flush()
            case "retry":
                self.note(f"  trying again: {data.get('reason', '')}", "yellow")
            case "gap":
                self.note("  some progress is not shown", "yellow")
            case _:
                return

    def plan(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Shown again only where it is another plan; its steps' progress is in other events."""
        titles = [str(step["title"]) for step in steps]
        if titles == self._planned:
            return
        self._planned = titles
        self.rest()
        table = Table(title="Plan", title_justify="left", show_header=False, box=None)
        for place, step in enumerate(steps, 1):
            title = Text(harmless(step["title"]))
            queries = Text(harmless(" · ".join(step.get("queries") or [])), style="dim")
            table.add_row(f"{place}.", title, queries)
        self._console.print(table)

    async def line(self, prompt: str, stop: asyncio.Event) -> str | None:
        """A line from the person; None at the end of input, or once `stop` is set.

        Read when the terminal has it, never in a thread: that could not be given up.
        """
        self.rest()
        self._console.print(Text(prompt), end=" ")
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[None] = loop.create_future()
        descriptor = sys.stdin.fileno()
        loop.add_reader(descriptor, lambda: arrived.done() or arrived.set_result(None))
        try:
            async with asyncio.TaskGroup() as group:
                stopped = group.create_task(stop.wait())
                await asyncio.wait({arrived, stopped}, return_when=asyncio.FIRST_COMPLETED)
                stopped.cancel()
        finally:
            loop.remove_reader(descriptor)
        if not arrived.done():
            return None
        text = sys.stdin.readline()
        return text.strip() if text else None

    async def answer(
        self, kind: str, payload: Mapping[str, Any], stop: asyncio.Event
    ) -> dict[str, Any] | None:
        """The person's answer to an interrupt; None where they left."""
        if kind == "clarify":
            self.note(str(payload.get("question", "")), "bold")
            for option in payload.get("options") or []:
                self.note(f"  - {option}")
            while (text := await self.line("Your answer:", stop)) == "":
                continue
            return None if text is None else {"text": text}
        return await self._review(payload, stop)

    async def _review(
        self, payload: Mapping[str, Any], stop: asyncio.Event
    ) -> dict[str, Any] | None:
        while True:
            choice = await self.line("[a]pprove, [e]dit, [r]evise, [q]uit?", stop)
            match choice and choice[:1].lower():
                case None | "q":
                    return None
                case "" | "a":
                    return {"action": "approve"}
                case "r":
                    feedback = await self.line("What should be different?", stop)
                    if feedback:
                        return {"action": "revise", "feedback": feedback}
                case "e":
                    steps = await self._edit(payload.get("steps") or [], stop)
                    if steps:
                        return {"action": "edit", "steps": steps}
                case _:
                    continue

    async def _edit(
        self, steps: Sequence[Mapping[str, Any]], stop: asyncio.Event
    ) -> list[dict[str, Any]] | None:
        self.note("For each step: Enter keeps it, - drops it, a text replaces it.", "dim")
        out: list[dict[str, Any]] = []
        for step in steps:
            self.note(f"  {step['title']}")
            text = await self.line("  >", stop)
            if text is None:
                return None
            if text == "":
                kept = ("id", "title", "intent", "queries")
                out.append({name: step[name] for name in kept if name in step})
            elif text != "-":
                out.append({"title": text})
        while text := await self.line("  One more step (Enter: no more):", stop):
            out.append({"title": text})
        return out
