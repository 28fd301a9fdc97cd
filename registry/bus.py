"""The bus between workers: hints only. A lost one costs time, never a run: every hint has a poll.

Topics are plain names; messages are small JSON objects. `LocalBus` is the bus of a
process that is alone; the contract tests in `tests/registry/bus_contract.py` hold for any.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

# Topics. A message is {"thread_id", "run_id", "instance_id", "ts"}; a worker ignores its own.
CANCEL: Final = "task:cancel"  # a cancel intent was written on this run
MODIFY: Final = "task:modify"  # a requirement was written for this run
PENDING: Final = "task:pending"  # this run waits to be claimed

Message = Mapping[str, Any]
Receiver = Callable[[Message], None]


class Bus(Protocol):
    async def publish(self, topic: str, message: Message) -> None:
        """Sends to every subscriber of every worker, this one included. May be lost, and
        then says nothing: whoever publishes has written what matters to the database."""
        ...

    def subscribe(self, topic: str, receiver: Receiver) -> Callable[[], None]:
        """Calls `receiver` for each message from now on; returns what ends that.

        A receiver must not block and must not raise.
        """
        ...

    def on_gap(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls back whenever messages may have been lost; returns what ends that."""
        ...


class LocalBus:
    """Delivers within the process, in order, before `publish` returns."""

    def __init__(self) -> None:
        self._receivers: defaultdict[str, list[Receiver]] = defaultdict(list)

    async def publish(self, topic: str, message: Message) -> None:
        for receiver in list(self._receivers[topic]):
            receiver(message)

    def subscribe(self, topic: str, receiver: Receiver) -> Callable[[], None]:
        self._receivers[topic].append(receiver)

        def end() -> None:
            if receiver in self._receivers[topic]:
                self._receivers[topic].remove(receiver)

        return end

    def on_gap(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Nothing is ever lost within a process."""
        del callback
        return lambda: None
