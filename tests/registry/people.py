"""The human half of the state machine: commands on threads, against the contract's table."""

from collections.abc import Coroutine
from functools import partial
from typing import Any, Final
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
)

from registry.commands import Commands
from registry.errors import (
    AlreadyAnswered,
    AnswerNeeded,
    NothingLeft,
    NotWaiting,
    RegistryError,
    RunActive,
    Stopping,
    UnknownInterrupt,
)
from registry.store import intend_cancel, latest_run
from registry.threads import lock_thread
from registry.transitions import Placed
from tests.registry.ground import Ground, Holder
from tests.registry.lifecycle import Look, World

OWNER: Final = "ann"

pick = st.integers(0, 1_000)


class People(RuleBasedStateMachine):
    """What people do, and what must hold after each step."""

    def __init__(self, ground: Ground) -> None:
        super().__init__()
        self.ground = ground
        self.database = ground.database
        self.run = ground.run
        self.world = World(self.database)
        self.threads: list[UUID] = []
        self.holders: list[Holder] = []
        self.interrupts: list[tuple[UUID, str]] = []
        self.commanded: list[UUID] = []
        self.seen = Look({}, {}, {})
        self.run(self.database.execute("TRUNCATE threads CASCADE"))

    @invariant()
    def holds(self) -> None:
        self.seen = self.run(self.world.check(commanded=self.commanded))
        self.commanded.clear()
        owners = [holder.run.thread_id for holder in self.holders if self._live(holder)]
        assert len(owners) == len(set(owners)), "two live owners of a thread"

    # -- people

    def _commands(self, *, claims: bool) -> Commands:
        worker = self.ground.claiming if claims else self.ground.queueing
        return Commands(worker, launch=partial(self._launched, worker.worker_id))

    def _launched(self, worker: str, placed: Placed) -> None:
        self.holders.append(Holder(self.ground, worker, placed.run))

    @rule(claims=st.booleans())
    def start(self, claims: bool) -> None:
        if len(self.threads) >= 4:
            return
        command = self._commands(claims=claims).start(OWNER, question="q", title="t", input={})
        accepted = self.run(command)
        self.threads.append(accepted.thread_id)
        self.commanded.append(accepted.thread_id)

    @rule(which=pick, claims=st.booleans())
    def answer(self, which: int, claims: bool) -> None:
        if not self.interrupts:
            return
        thread_id, interrupt = self.interrupts[which % len(self.interrupts)]
        latest = self.seen.latest(thread_id)
        open_ones = [item["id"] for item in latest["interrupts"]]
        expected = latest["status"] == "waiting" and interrupt in open_ones
        command = self._commands(claims=claims).answer(
            OWNER, thread_id, interrupt_id=interrupt, value=1
        )
        refusals = (AlreadyAnswered, NotWaiting, UnknownInterrupt, Stopping)
        self._ask(thread_id, command, expected=expected, refusals=refusals)

    @rule(which=pick, claims=st.booleans())
    def resume(self, which: int, claims: bool) -> None:
        if not self.threads:
            return
        thread_id = self._thread(which)
        expected = self.seen.latest(thread_id)["status"] in {"failed", "cancelled", "interrupted"}
        command = self._commands(claims=claims).resume(OWNER, thread_id)
        refusals = (RunActive, AnswerNeeded, NothingLeft, Stopping)
        self._ask(thread_id, command, expected=expected, refusals=refusals)

    @rule(which=pick, claims=st.booleans())
    def modify(self, which: int, claims: bool) -> None:
        if not self.threads:
            return
        thread_id = self._thread(which)
        latest = self.seen.latest(thread_id)
        stopping = latest["status"] == "running" and latest["cancel_mode"] == "stop"
        command = self._commands(claims=claims).modify(OWNER, thread_id, body={"message": "m"})
        self._ask(thread_id, command, expected=not stopping, refusals=(Stopping,))

    def _ask(
        self,
        thread_id: UUID,
        command: Coroutine[Any, Any, object],
        *,
        expected: bool,
        refusals: tuple[type[RegistryError], ...],
    ) -> None:
        try:
            self.run(command)
        except refusals:
            assert not expected, "refused against the contract"
        else:
            assert expected, "accepted against the contract"
            self.commanded.append(thread_id)

    @rule(which=pick)
    def cancel(self, which: int) -> None:
        if not self.threads:
            return
        thread_id = self._thread(which)
        was = self.seen.latest(thread_id)["status"]
        after = self.run(
            self._commands(claims=False).cancel(OWNER, thread_id, mode="stop", by=OWNER)
        )
        if was == "running":
            assert after.stopping
        elif was in {"pending", "waiting", "interrupted"}:
            assert after.status == "cancelled"
        else:
            assert after.status == was

    @rule(which=pick)
    def wish_to_finish(self, which: int) -> None:
        """The other intent: it never takes a stop back."""
        if not self.threads:
            return
        thread_id = self._thread(which)

        async def intend() -> None:
            async with self.database.transaction() as tx:
                await lock_thread(tx, OWNER, thread_id)
                run = await latest_run(tx, thread_id)
                await intend_cancel(tx, run.run_id, mode="finish", by=OWNER)

        self.run(intend())

    def _live(self, holder: Holder) -> bool:
        """By what the tables said before this step."""
        run = self.seen.runs[holder.run.run_id]
        return run["status"] == "running" and run["epoch"] == holder.run.epoch

    def _holder(self, which: int) -> Holder:
        return self.holders[-1 - which % len(self.holders)]

    def _thread(self, which: int) -> UUID:
        return self.threads[which % len(self.threads)]
