"""What the workflow uses of the outside, made from the settings: a model and a web search."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager

from app.body import EmitSink
from app.meter import Meter
from app.providers.endpoint import Endpoint
from app.providers.model import Callbacks, OpenAIChat
from app.providers.web import NoWeb
from app.settings import Settings
from graph.ports import Web
from graph.reasoner import Reasoner
from graph.reasoners.extractive import ExtractiveReasoner
from graph.reasoners.llm import LlmReasoner


@asynccontextmanager
async def make_reasoner(settings: Settings) -> AsyncGenerator[Callable[[EmitSink], Reasoner]]:
    """Yields what makes a run's reasoner; connections close with the block."""
    extractive = ExtractiveReasoner()
    if settings.model is None:
        yield lambda _: extractive
        return
    endpoint = Endpoint(
        model=settings.model, base_url=settings.openai_base_url, api_key=settings.openai_api_key
    )

    def reasoner(sink: EmitSink) -> Reasoner:
        callbacks = _callbacks(settings, sink)
        chat = OpenAIChat(endpoint, idle_seconds=settings.model_idle_seconds, callbacks=callbacks)
        return LlmReasoner(chat, endpoint.model, extractive)

    async with aclosing(endpoint):
        yield reasoner


def make_web(settings: Settings) -> Web:
    return NoWeb(settings.search_provider)


def _callbacks(settings: Settings, sink: EmitSink) -> Callbacks:
    """Usage and retries of a run's model calls, as events."""
    meter = Meter(
        sink,
        sink.counters,
        sink.before,
        price_input=settings.price_input,
        price_output=settings.price_output,
    )

    def retry(node: str, number: int, wait: float, reason: str) -> None:
        sink.emit(
            "retry",
            {"what": f"model: {node}", "try": number, "wait_seconds": wait, "reason": reason},
        )

    return Callbacks(on_usage=meter.add, on_retry=retry)
