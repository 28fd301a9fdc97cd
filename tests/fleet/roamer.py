"""A reader as a page behind a load balancer is one: where its worker goes, it goes to another."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

import httpx

from tests.api.reading import state
from tests.fleet.fleet import Fleet
from tests.reader import Reader

SILENCE: Final = 5.0  # seconds, many heartbeats: a worker that says nothing is left


class Roamer:
    """Begins at `place` and keeps cursor and text when it moves on."""

    def __init__(self, fleet: Fleet, thread_id: str, *, place: int = 0, cursor: str = "") -> None:
        self._fleet = fleet
        self.place = place
        self.reader = Reader(self._client(), thread_id, rereads=True, cursor=cursor)

    def _client(self) -> httpx.AsyncClient:
        client = self._fleet[self.place].client()
        client.timeout = httpx.Timeout(SILENCE)
        return client

    async def until_end(self) -> None:
        """To the end of the thread's latest run, at as many workers as it takes."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.reader.client)
            while True:
                try:
                    if await self.reader.visit():
                        return
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.02)
                self.place = (self.place + 1) % len(self._fleet.members)
                self.reader.client = await stack.enter_async_context(self._client())

    async def has_all(self, client: httpx.AsyncClient) -> None:
        """Its text is the report's, section by section, and no event came twice, unless a gap
        made it go back to the state's cursor."""
        now = await state(client, self.reader.thread_id)
        written = [section["markdown"] for section in now["values"]["sections"]]
        told = [text for text in self.reader.text.of(1) if text]
        assert told == [text for text in written if text]
        ids = [tuple(map(int, name.split("-"))) for name in self.reader.ids]
        assert len(ids) == len(set(ids)) or "gap" in self.reader.names, "an event came twice"


async def all_end(roamers: Sequence[Roamer], *, seconds: float) -> None:
    async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
        for roamer in roamers:
            group.create_task(roamer.until_end())
