"""Chaos over a fleet: rounds of runs and misfortunes at random, and the books at the end.

A seed decides what is tried and in which order; how far each run has come by then is the
machine's, so a seed brings back the plan and not every tick.
"""

import asyncio
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import httpx

from tests.fleet.acts import QUESTION
from tests.fleet.fleet import LEASE, Fleet, Member
from tests.fleet.quiet import query, quiet
from tests.fleet.roamer import Roamer

WORKERS: Final = 3
SETTLE: Final = 120.0  # seconds for what is left to end, once nothing is broken any more
ASKING: Final = 60.0  # seconds in which some worker must take a request
FEW: Final = 3  # threads of a round that somebody cancels, at most
ENDED: Final = frozenset({"succeeded", "cancelled", "failed"})


@dataclass(frozen=True)
class Counts:
    """`seconds`: over which the rounds are spread; a slow machine takes longer."""

    rounds: int = 20
    runs: int = 200
    seconds: float = 300


@dataclass
class Books:
    """What was asked for. `cancelled`: threads that somebody tried to stop."""

    threads: list[str] = field(default_factory=list[str])
    cancelled: set[str] = field(default_factory=set[str])
    readers: list[Roamer] = field(default_factory=list[Roamer])
    acts: Counter[str] = field(default_factory=Counter[str])


class Chaos:
    """`say` gets a line for each round."""

    def __init__(self, fleet: Fleet, counts: Counts, seed: int, say: Callable[[str], None]) -> None:
        self._fleet = fleet
        self._counts = counts
        self._random = random.Random(seed)
        self._say = say
        self.books = Books()

    async def run(self) -> Counter[str]:
        """All rounds and the reckoning; how many runs ended in which status."""
        each = self._counts.runs // self._counts.rounds
        pace = self._counts.seconds / self._counts.rounds
        async with asyncio.TaskGroup() as group:
            for number in range(self._counts.rounds):
                began = time.monotonic()
                fresh = await asyncio.gather(*(self._start() for _ in range(each)))
                for thread_id in fresh:
                    place = self._random.randrange(WORKERS)
                    reader = Roamer(self._fleet, thread_id, place=place)
                    self.books.readers.append(reader)
                    group.create_task(reader.until_end())
                await self._misfortune(number)
                for thread_id in self._random.sample(fresh, self._random.randint(0, FEW)):
                    await self._cancel(thread_id)
                await asyncio.sleep(max(0, began + pace - time.monotonic()))
            await asyncio.to_thread(self._fleet.mend)
        return await self._reckon()

    # -- people

    def _client(self) -> httpx.AsyncClient:
        client = self._random.choice(self._fleet.members).client()
        client.timeout = httpx.Timeout(5)
        return client

    async def _post(self, path: str, body: object, key: str) -> httpx.Response:
        """At any worker, and at others until one takes it; the key makes it one request."""
        async with asyncio.timeout(ASKING):
            while True:
                try:
                    async with self._client() as client:
                        headers = {"Idempotency-Key": key}
                        response = await client.post(path, json=body, headers=headers)
                    if response.status_code != 503:
                        return response
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.1)

    async def _start(self) -> str:
        body = {"question": QUESTION, "clarify": False, "web": False, "review_plan": False}
        response = await self._post("/api/threads", body, str(uuid.uuid4()))
        assert response.status_code == 202, response.text
        thread_id = str(response.json()["thread_id"])
        self.books.threads.append(thread_id)
        return thread_id

    async def _cancel(self, thread_id: str) -> None:
        self.books.cancelled.add(thread_id)
        response = await self._post(f"/api/threads/{thread_id}/cancel", {}, str(uuid.uuid4()))
        assert response.status_code in {200, 202}, response.text

    # -- misfortunes

    async def _misfortune(self, number: int) -> None:
        member = self._random.choice(self._fleet.members)
        acts = {
            "kill": self._kill,
            "freeze": self._freeze,
            "drain": self._drain,
            "cut Postgres": self._cut_postgres,
            "lose Postgres": self._lose_postgres,
            "cut Redis": self._cut_redis,
            "lose Redis": self._lose_redis,
            "kill Redis": self._kill_redis,
        }
        name = self._random.choice(sorted(acts))
        self.books.acts[name] += 1
        await asyncio.sleep(self._random.random() * 2)  # into the middle of something
        self._say(f"round {number + 1}: {name}, worker {self._fleet.members.index(member)}")
        await acts[name](member)

    async def _kill(self, member: Member) -> None:
        member.kill()
        await asyncio.to_thread(member.restart)

    async def _freeze(self, member: Member) -> None:
        member.freeze()
        await asyncio.sleep(LEASE + 1.5)
        member.thaw()

    async def _drain(self, member: Member) -> None:
        assert await asyncio.to_thread(member.term) == 0
        await asyncio.to_thread(member.restart)

    async def _cut_postgres(self, member: Member) -> None:
        assert member.postgres is not None
        for _ in range(3):
            member.postgres.reset()
            await asyncio.sleep(self._random.random())

    async def _lose_postgres(self, member: Member) -> None:
        assert member.postgres is not None
        member.postgres.drop()
        await asyncio.sleep(LEASE * self._random.random() * 1.5)
        member.postgres.heal()

    async def _cut_redis(self, member: Member) -> None:
        assert member.redis is not None
        for _ in range(3):
            member.redis.reset()
            await asyncio.sleep(self._random.random())

    async def _lose_redis(self, member: Member) -> None:
        assert member.redis is not None
        member.redis.drop()
        await asyncio.sleep(5)
        member.redis.heal()

    async def _kill_redis(self, _: Member) -> None:
        self._fleet.redis.kill()
        await asyncio.sleep(1 + self._random.random() * 3)
        await asyncio.to_thread(self._fleet.redis.restart)

    # -- the reckoning

    async def _reckon(self) -> Counter[str]:
        await quiet(self._fleet, seconds=SETTLE)
        rows = await query(self._fleet, "SELECT thread_id, status, problem FROM runs")
        assert sorted(str(row["thread_id"]) for row in rows) == sorted(self.books.threads), (
            "a run was lost, or made twice"
        )
        for row in rows:
            assert row["status"] in ENDED, row
            if row["status"] == "cancelled":
                assert str(row["thread_id"]) in self.books.cancelled, row
            if row["status"] == "failed":
                assert row["problem"]["type"] == "/problems/attempts-exhausted", row
        done = {str(row["thread_id"]) for row in rows if row["status"] == "succeeded"}
        async with self._fleet[0].client() as client:
            for reader in self.books.readers:
                if reader.reader.thread_id in done:
                    await reader.has_all(client)
        return Counter(str(row["status"]) for row in rows)


def soak(counts: Counts, seed: int, say: Callable[[str], None]) -> Counter[str]:
    """A fleet of its own, chaos over it, and how its runs ended. AssertionError where the
    books do not balance."""
    with Fleet(WORKERS, proxies=True) as fleet:
        return asyncio.run(Chaos(fleet, counts, seed, say).run())
