"""One simulator for the provider tests; each test names its script."""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from app.providers.endpoint import Endpoint
from app.providers.model import Callbacks, OpenAIChat
from graph.ports import ModelFailed, Usage
from tests.simulator import Simulator

Retry = tuple[str, int, float, str]


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


@dataclass
class Call:
    """A chat model on one script, with all that it reported."""

    endpoint: Endpoint
    idle: float = 5.0
    usage: list[Usage] = field(default_factory=list[Usage])
    retries: list[Retry] = field(default_factory=list[Retry])
    pieces: list[str] = field(default_factory=list[str])
    problem: dict[str, Any] | None = None

    @property
    def chat(self) -> OpenAIChat:
        return OpenAIChat(
            self.endpoint,
            idle_seconds=self.idle,
            callbacks=Callbacks(
                on_usage=lambda _, usage: self.usage.append(usage),
                on_retry=lambda node, number, wait, why: self.retries.append(
                    (node, number, wait, why)
                ),
            ),
        )

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    async def run(self, user: str = "Say something.") -> str | None:
        """Streams to the end; returns the last part of the problem's type, None for none."""
        try:
            async for piece in self.chat.stream("Be brief.", user, node="write"):
                self.pieces.append(piece)
        except ModelFailed as failure:
            self.problem = failure.problem
        if self.problem is None:
            return None
        assert set(self.problem) == {"type", "title", "status", "detail"}
        assert "\n" not in self.problem["detail"]
        return str(self.problem["type"]).removeprefix("/problems/")


@pytest.fixture
async def call(simulator: Simulator) -> AsyncIterator[Callable[..., Call]]:
    """Makes calls on a model's script; their connections close with the test."""
    made: list[Call] = []

    def make(model: str, *, idle: float = 5.0, base_url: str | None = None) -> Call:
        endpoint = Endpoint(model=model, base_url=base_url or simulator.url, api_key=None)
        made.append(Call(endpoint, idle))
        return made[-1]

    yield make
    for item in made:
        await item.endpoint.aclose()
