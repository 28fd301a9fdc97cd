"""What the workflow uses of the outside, made from the settings: a model and a web search."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from app.body import EmitSink
from app.providers.web import NoWeb
from app.settings import Settings
from graph.ports import Web
from graph.reasoner import Reasoner
from graph.reasoners.extractive import ExtractiveReasoner


@asynccontextmanager
async def make_reasoner(settings: Settings) -> AsyncGenerator[Callable[[EmitSink], Reasoner]]:
    """Yields what makes a run's reasoner; connections close with the block."""
    del settings
    extractive = ExtractiveReasoner()
    yield lambda _: extractive


def make_web(settings: Settings) -> Web:
    return NoWeb(settings.search_provider)
