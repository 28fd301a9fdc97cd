"""The run lifecycle as a state machine: any commands, crashes and zombies in any order.

The real statements on a real Postgres, with people on one side, workers on the other, and
the scan between them. `World` holds what must be true after each step.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, Final, Literal, TypeVar, cast

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    rule,
    run_state_machine_as_test,
)

from registry.orphans import scan as scan_orphans
from registry.transitions import Placed, claim_next
from tests.registry.ground import LEASE, Ending, Ground, Holder
from tests.registry.lifecycle import everything
from tests.registry.people import OWNER, People, pick
from tests.registry.stage import never_settled

ATTEMPTS: Final = 3
# Shrinking takes minutes: add Phase.shrink to look into a failure.
PROFILE: Final = settings(
    derandomize=True,
    print_blob=True,
    deadline=None,
    max_examples=60,
    stateful_step_count=40,
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.generate),
)

T = TypeVar("T")
workers = st.sampled_from(("worker-a", "worker-b"))
outcomes = st.sampled_from(("succeeded", "waiting", "failed", None))


class Lifecycle(People):
    # -- workers

    @rule(worker=workers)
    def claim(self, worker: str) -> None:
        placed = self.run(claim_next(self.database, worker, LEASE))
        if placed is not None:
            self._launched(worker, placed)

    @rule(first=workers, second=workers)
    def claim_at_once(self, first: str, second: str) -> None:
        async def both() -> tuple[Placed | None, Placed | None]:
            return await asyncio.gather(
                claim_next(self.database, first, LEASE), claim_next(self.database, second, LEASE)
            )

        for worker, placed in zip((first, second), self.run(both()), strict=True):
            if placed is not None:
                self._launched(worker, placed)

    @rule(which=pick)
    def renew(self, which: int) -> None:
        if not self.holders:
            return
        holder = self._holder(which)
        renewed, changed = self._try(holder, holder.renew())
        assert bool(renewed) == self._live(holder)
        assert changed == self._live(holder)

    @rule(which=pick, status=outcomes)
    def finish(self, which: int, status: Ending) -> None:
        """None: its body was cancelled."""
        if not self.holders:
            return
        holder = self._holder(which)
        ended, changed = self._try(holder, self._end(holder, status))
        assert ended == changed == self._live(holder)

    @rule(which=pick, status=st.sampled_from(("succeeded", "waiting", "failed", "handed back")))
    def end_while_cancelled(self, which: int, status: str) -> None:
        """Its end and the stop in the same moment: either comes first, and neither is lost."""
        if not self.holders:
            return
        holder = self._holder(which)
        live = self._live(holder)
        cancel = self._commands(claims=False).cancel(
            OWNER, holder.run.thread_id, mode="stop", by=OWNER
        )
        ending = (
            holder.hand_back()
            if status == "handed back"
            else self._end(holder, cast("Ending", status))
        )

        async def both() -> None:
            await asyncio.gather(ending, cancel)

        self.run(both())
        self.holds()
        run = self.seen.runs[holder.run.run_id]
        if live and run["cancel_mode"] != "stop":
            # The stop came after an end that no stop changes.
            assert run["status"] == status in {"succeeded", "failed"}, run

    @rule(which=pick)
    def hand_back(self, which: int) -> None:
        if not self.holders:
            return
        holder = self._holder(which)
        stopping = self.seen.runs[holder.run.run_id]["cancel_mode"] == "stop"
        handed, changed = self._try(holder, holder.hand_back())
        assert handed == changed == (self._live(holder) and not stopping)

    @rule(which=pick)
    def announce(self, which: int) -> None:
        """The owner numbers the events of requirements that came meanwhile."""
        if not self.holders:
            return
        holder = self._holder(which)
        announced, changed = self._try(holder, holder.announce())
        assert announced or not changed
        assert announced == self._live(holder)

    @rule(which=pick)
    def apply(self, which: int) -> None:
        if not self.holders:
            return
        holder = self._holder(which)
        _, changed = self._try(holder, holder.apply())
        assert not changed or holder.run.epoch == self.seen.epochs[holder.run.thread_id]

    @rule(which=pick)
    def thaw(self, which: int) -> None:
        """A worker that was frozen wakes up and tries all that it was about to write."""
        if not self.holders:
            return
        holder = self._holder(which)
        if self._live(holder) or holder.run.epoch == self.seen.epochs[holder.run.thread_id]:
            return

        async def tries() -> None:
            assert not await holder.renew()
            assert not await holder.announce()
            await holder.apply()
            assert not await holder.hand_back()
            for status in ("succeeded", "waiting", "failed", None):
                assert not await self._end(holder, status)

        _, changed = self._try(holder, tries())
        assert not changed

    # -- what goes wrong

    @rule(which=pick, null=st.booleans())
    def expire(self, which: int, null: bool) -> None:
        if not self.threads:
            return
        lease = "NULL" if null else "now() - interval '1 s'"
        self.run(
            self.database.execute(
                f"UPDATE runs SET lease_until = {lease} "
                "WHERE thread_id = %(id)s AND status = 'running'",
                {"id": self._thread(which)},
            )
        )

    @rule(recover=st.sampled_from(("resume", "prompt")))
    def scan(self, recover: Literal["resume", "prompt"]) -> None:
        lapsed = {
            run["run_id"]
            for run in self.seen.runs.values()
            if run["status"] == "running" and not run["leased"]
        }
        found = self.run(
            scan_orphans(
                self.database, max_attempts=ATTEMPTS, recover=recover, settled=never_settled
            )
        )
        assert {orphan.run_id for orphan in found} == lapsed

    @rule(which=pick, worker=workers)
    def take_over(self, which: int, worker: str) -> None:
        """A crash seen to its end: the next claim may be the same worker's, started again."""
        if not self.threads:
            return
        self.expire(which, null=False)
        self.holds()
        self.scan("resume")
        self.holds()
        self.claim(worker)
        self.holds()
        for place in range(min(len(self.holders), 4)):
            self.thaw(place)

    def teardown(self) -> None:
        """Whatever happened: leases lapse, and all that has not ended can be picked up."""
        self.holds()
        for _ in range(100):
            self.run(
                self.database.execute("UPDATE runs SET lease_until = NULL WHERE status = 'running'")
            )
            self.holds()
            self.scan("resume")
            self.holds()
            while (placed := self.run(claim_next(self.database, "last", LEASE))) is not None:
                self.holds()
                holder = Holder(self.ground, "last", placed.run)
                self.run(holder.apply())
                assert self.run(self._end(holder, "succeeded"))
            self.holds()
            if not self.run(self.ground.store.counts()):
                return
        raise AssertionError("a run that nobody can pick up")

    def _end(self, holder: Holder, status: Ending) -> Coroutine[Any, Any, bool]:
        """Whether its outcome was taken."""

        async def end() -> bool:
            ended = await holder.finish(status)
            if ended is None:
                return False
            for event in ended.events:
                if event.name == "interrupt":
                    self.interrupts.append((holder.run.thread_id, event.data["id"]))
            if ended.successor is not None:
                self._launched(holder.worker, ended.successor)
            return True

        return end()

    def _try(self, holder: Holder, work: Coroutine[Any, Any, T]) -> tuple[T, bool]:
        """The result, and whether anything of the thread was changed."""

        async def act() -> tuple[T, bool]:
            before = await everything(self.database, holder.run.thread_id)
            result = await work
            return result, before != await everything(self.database, holder.run.thread_id)

        return self.run(act())


@pytest.fixture
def ground(database_url: str) -> Iterator[Ground]:
    made = Ground(database_url)
    yield made
    made.close()


def test_any_order_of_commands_crashes_and_zombies(ground: Ground) -> None:
    machine = cast("type[RuleBasedStateMachine]", lambda: Lifecycle(ground))
    run_state_machine_as_test(machine, settings=PROFILE)
