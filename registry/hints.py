"""Hints between workers: what one has written that another should read now, not at its next poll.

The row decides, never the hint: a hint that is lost, doubled or foreign changes nothing but
the time that passes. On receipt only a loop is woken.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from registry.bus import CANCEL, MODIFY, PENDING, Bus, Message
from registry.events import now
from registry.loops import Loop
from registry.run import Run
from registry.tasks import TaskRegistry


class Hints:
    """Sends hints as `worker_id`; receives those of others and wakes `renewals` or `claims`."""

    def __init__(
        self, bus: Bus, worker_id: str, tasks: TaskRegistry, *, renewals: Loop, claims: Loop
    ) -> None:
        self._bus = bus
        self._worker_id = worker_id
        self._tasks = tasks
        self._renewals = renewals
        self._claims = claims
        self._ends: list[Callable[[], None]] = [
            bus.subscribe(CANCEL, self._asked),
            bus.subscribe(MODIFY, self._asked),
            bus.subscribe(PENDING, self._pending),
            bus.on_gap(self._gap),
        ]

    async def send(self, topic: str, run: Run) -> None:
        message: dict[str, Any] = {
            "thread_id": str(run.thread_id),
            "run_id": str(run.run_id),
            "instance_id": self._worker_id,
            "ts": now(),
        }
        await self._bus.publish(topic, message)

    def close(self) -> None:
        for end in self._ends:
            end()

    def _asked(self, message: Message) -> None:
        if self._foreign(message) and self._here(message.get("run_id")):
            self._renewals.wake()  # it reads the intents and the requirements

    def _pending(self, message: Message) -> None:
        if self._foreign(message):
            self._claims.wake()

    def _gap(self) -> None:
        """Hints may have been lost: everything they could have said is read from the rows."""
        self._renewals.wake()
        self._claims.wake()

    def _foreign(self, message: Message) -> bool:
        return message.get("instance_id") != self._worker_id

    def _here(self, run_id: object) -> bool:
        try:
            return self._tasks.of_run(UUID(str(run_id))) is not None
        except ValueError:
            return False
