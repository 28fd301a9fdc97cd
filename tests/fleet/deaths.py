"""A run that is overtaken by one death after another, and a reader that stays with it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import httpx

from tests.api.reading import start, state
from tests.fleet.acts import QUESTION, reached, runs_of
from tests.fleet.fleet import Fleet, Member
from tests.fleet.quiet import gauges_of
from tests.fleet.roamer import Roamer, all_end

NODES: Final = (
    *("intent", "scope", "plan", "retrieve", "read", "analyse"),
    *("reflect", "write", "verify", "finish"),
)
RUN: Final = 60.0  # seconds for what is left of a run that nobody disturbs any more
EACH: Final = 30.0  # seconds from one death to the next; the others may still be starting


@dataclass(frozen=True)
class Death:
    """Of the worker that has the run, once this event of it was seen."""

    act: Literal["kill", "drain"]
    event: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def in_node(cls, node: str) -> "Death":
        return cls("kill", "node.started", {"node": node})


WRITING: Final = (
    Death("drain", "section", {"index": 0}),
    Death("kill", "token", {"section": 1}),
    Death.in_node("verify"),
)
EVERY: Final = (
    *(Death.in_node(node) for node in NODES[:7]),
    *WRITING,
    Death.in_node("finish"),
)


async def usual_calls(fleet: Fleet) -> int:
    """How many calls a run makes that nothing happens to."""
    fleet.simulator.reset()
    async with fleet[0].client() as client:
        thread_id = await start(client, QUESTION, review_plan=False)
    await all_end([Roamer(fleet, thread_id)], seconds=RUN)
    return fleet.simulator.stats().finished


async def survive(fleet: Fleet, deaths: Sequence[Death], *, usual: int) -> int:
    """AssertionError where the run, its costs or the reader's text suffer from any of them.
    Returns how many of the kills met it: a node may be over before its worker is dead.
    The fleet's model has to invent things, so that the gate repairs."""
    fleet.simulator.reset()
    async with fleet[0].client() as client:
        thread_id = await start(client, QUESTION, review_plan=False)
    reader = Roamer(fleet, thread_id)
    async with asyncio.TaskGroup() as group:
        group.create_task(all_end([reader], seconds=RUN + EACH * len(deaths)))
        for death in deaths:
            async with asyncio.timeout(EACH):
                died = await _happens(fleet, thread_id, death)
            if died is not None:  # it comes back while the run goes on elsewhere
                group.create_task(asyncio.to_thread(died.restart))
    (run,) = await runs_of(fleet, thread_id)
    assert run["status"] == "succeeded", run
    kills = sum(death.act == "kill" for death in deaths)
    assert run["attempt"] <= 1 + kills, "a drain counts no attempt"
    async with fleet[0].client() as client:
        await reader.has_all(client)
        assert await _mended(client, thread_id), "the gate had nothing to do"
    # What was cut off is paid again, nothing that had its answer; but for an answer that comes
    # in the moment of a death.
    assert fleet.simulator.stats().finished <= usual + 1
    return run["attempt"] - 1


async def _happens(fleet: Fleet, thread_id: str, death: Death) -> Member | None:
    """Who died; None where the run was over before that."""
    owner = await _owner(fleet, thread_id)
    if owner is None:
        return None
    async with owner.client() as client:
        await reached(client, thread_id, death.event, **death.data)
    if death.act == "kill":
        owner.kill()
    else:
        assert await asyncio.to_thread(owner.term) == 0
    return owner


async def _owner(fleet: Fleet, thread_id: str) -> Member | None:
    """The worker that has the one run there is, once somebody has it; None after its end."""
    while (await runs_of(fleet, thread_id))[0]["status"] in {"pending", "running"}:
        for member in fleet.members:
            if (await gauges_of(member))["research_slots_used"][""]:
                return member
        await asyncio.sleep(0.02)
    return None


async def _mended(client: httpx.AsyncClient, thread_id: str) -> bool:
    """Whether the gate repaired or removed anything of the report."""
    sections = (await state(client, thread_id))["values"]["sections"]
    return any(s["verdict"] != "kept" for section in sections for s in section["sentences"])
