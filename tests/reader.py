"""A reader as a page is one: follows with a cursor, drops, comes back, keeps the text."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

import httpx

from registry.events import ENDING
from tests.api.eventstream import Parser, Received
from tests.api.reading import state, stream


@dataclass
class Text:
    """The report as events tell it: tokens are provisional until their section arrives."""

    sections: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    titles: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    open: dict[int, str] = field(default_factory=dict[int, str])
    version: int = 1

    def apply(self, event: Received) -> None:
        data = event.data
        if event.name == "section.started":
            self.version = data["version"]
            self.open[data["index"]] = ""
        elif event.name == "token":
            self.open[data["section"]] = self.open.get(data["section"], "") + data["text"]
        elif event.name == "section":
            key = (data["version"], data["index"])
            self.sections[key], self.titles[key] = data["markdown"], data["title"]
            self.open.pop(data["index"], None)

    def take(self, values: dict[str, Any]) -> None:
        """From the thread's state: sections that are written stand as they are there."""
        self.open.clear()
        for section in values["sections"]:
            if section["markdown"]:
                key = (section["version"], section["index"])
                self.sections[key], self.titles[key] = section["markdown"], section["title"]

    def of(self, version: int) -> list[str]:
        return [text for (v, _), text in sorted(self.sections.items()) if v == version]


@dataclass
class Reader:
    """`chance`: of leaving after any event; 0 for a reader who stays. `rereads`: after a gap
    it reads the state and goes on from there, and it comes back where nothing answers now."""

    client: httpx.AsyncClient
    thread_id: str
    chance: float = 0
    seed: int = 0
    rereads: bool = False
    text: Text = field(default_factory=Text)
    names: list[str] = field(default_factory=list[str])
    ids: list[str] = field(default_factory=list[str])
    cursor: str = ""
    visits: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    async def visit(self) -> bool:
        """One connection; True when the stream ended by itself after an ending event."""
        self.visits += 1
        parser, ending = Parser(), False
        parser.last_id = self.cursor
        async with stream(self.client, self.thread_id, seen=self.cursor or None) as response:
            if response.status_code == 204:
                return True
            if self.rereads and response.status_code == 503:
                return False
            assert response.status_code == 200, await response.aread()
            async for data in response.aiter_bytes():
                for event in parser.feed(data):
                    self._take(event)
                    if self.rereads and event.name == "gap":
                        await self.reread()
                        return False
                    ending = event.name in ENDING
                    if self.chance and self._random.random() < self.chance:
                        return False
        return ending

    def _take(self, event: Received) -> None:
        self.names.append(event.name)
        if event.name == "gap":
            return
        self.ids.append(event.id)
        self.cursor = event.id
        self.text.apply(event)

    async def reread(self) -> None:
        """What the state says stands; what it does not have yet is followed from its cursor.
        Where it cannot be had now, the next visit starts with the same gap."""
        response = await self.client.get(f"/api/threads/{self.thread_id}/state")
        if response.status_code == 503:
            return
        assert response.status_code == 200, response.text
        now = response.json()
        self.text.take(now["values"])
        self.cursor = now["cursor"]

    async def until_end(self) -> None:
        """To the end of the thread's latest run, with as many visits as it takes."""
        while not await self.visit():
            await asyncio.sleep(self._random.random() * 0.02 if self.chance else 0)

    async def until_seen(self, name: str) -> None:
        while name not in self.names:
            await asyncio.sleep(0.005)


async def wait_for(
    client: httpx.AsyncClient, thread_id: str, *statuses: str, seconds: float = 60
) -> dict[str, Any]:
    """The state, once its status is one of these."""
    deadline = asyncio.get_running_loop().time() + seconds
    while (now := await state(client, thread_id))["status"] not in statuses:
        late = asyncio.get_running_loop().time() > deadline
        assert not late, f"not {statuses} but {now['status']}: {now['run']}, next {now['next']}"
        await asyncio.sleep(0.02)
    return now
