"""`OpenAIChat`: `graph.ports.ChatModel` over an OpenAI-compatible endpoint, for one run.

1. A cancel closes the socket before the CancelledError goes on: no reading outlives its task.
2. Silence is measured on content, not on bytes: keep-alive comments do not count as life.
3. A stream that ends without a finish reason, with an error object, or without text failed.
4. A failed call is tried again only while no text of it has been handed on.
5. Each call that was answered reports its usage, a cancelled or broken one an estimate.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Any, Final

from app.providers import faults
from app.providers.chunks import Reading, TokenCount
from app.providers.endpoint import Endpoint, Message
from app.providers.faults import Fault
from app.providers.ladder import Climb
from app.providers.tidy import Tidy
from app.providers.tokens import estimate
from graph.ports import Usage
from graph.text.clean import scrub

TRIES: Final = 3
LONGEST_WAIT: Final = 5.0  # seconds; an endpoint that asks for more fails the call
_FIRST_WAIT: Final = 0.25  # seconds, doubled with each try
_GRACE: Final = 5.0  # seconds a finished answer may take to close
_STRUCTURED: Final = 3  # idle limits that an answer without streaming may take

OnUsage = Callable[[str, Usage], None]
OnRetry = Callable[[str, int, float, str], None]


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Called at once, in the run's task. `on_usage(node, usage)` once for each answered call;
    `on_retry(node, next_try, wait_seconds, reason)` before a wait."""

    on_usage: OnUsage = lambda _node, _usage: None
    on_retry: OnRetry = lambda _node, _try, _wait, _reason: None


class OpenAIChat:
    """`idle_seconds`: how long the model may be silent."""

    def __init__(
        self, endpoint: Endpoint, *, idle_seconds: float, callbacks: Callbacks | None = None
    ) -> None:
        self._endpoint = endpoint
        self._idle = idle_seconds
        self._calls = callbacks or Callbacks()

    async def stream(self, system: str, user: str, *, node: str) -> AsyncGenerator[str]:
        """Text as it comes; all that has arrived at once is one piece."""
        messages = _messages(system, user)
        for number in range(1, TRIES + 1):
            begun = False
            try:
                async with aclosing(self._try(messages, node)) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
            except Fault as fault:
                if begun or not await self._again(fault, number, node):
                    raise
            else:
                return

    async def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, node: str
    ) -> Mapping[str, Any] | None:
        """An instance of the schema by the best rung of the ladder that the endpoint takes."""
        climb = Climb(self._endpoint, _messages(system, user), schema)
        while (rung := climb.rung) is not None:
            value = await self._rung(climb, rung, node)
            if value is not None:
                return value
        return None

    async def _rung(self, climb: Climb, rung: int, node: str) -> Mapping[str, Any] | None:
        for number in range(1, TRIES + 1):
            limit = _STRUCTURED * self._idle
            try:
                async with asyncio.timeout(limit):
                    answer = await self._endpoint.complete(**climb.request(rung))
            except TimeoutError:
                raise faults.silent(limit) from None
            except Fault as fault:
                if climb.refused(fault) or await self._again(fault, number, node):
                    if climb.rung != rung:
                        return None
                    continue
                raise
            count = answer.usage
            said = climb.said(answer)
            self._report(
                node,
                climb.asked,
                said,
                TokenCount(count.prompt_tokens, count.completion_tokens) if count else None,
            )
            return climb.take(answer, said)
        return None

    async def _again(self, fault: Fault, number: int, node: str) -> bool:
        """Waits for the next try; False where there is none."""
        wait = fault.retry_after
        if wait is None:
            wait = _FIRST_WAIT * 2 ** (number - 1)
        if not fault.retryable or number >= TRIES or wait > LONGEST_WAIT:
            return False
        self._calls.on_retry(node, number + 1, wait, str(fault.problem["title"]))
        await asyncio.sleep(wait)
        return True

    async def _try(self, messages: list[Message], node: str) -> AsyncGenerator[str]:
        """One call. Raises `Fault`, also after text was given."""
        reading, tidy = Reading(), Tidy()
        said: list[str] = []
        answered = given = False
        try:
            async with AsyncExitStack() as stack:
                body = await self._open(stack, messages)
                answered = True
                texts = await stack.enter_async_context(aclosing(self._read(body, reading)))
                async for text in texts:
                    said.append(text)
                    clean = tidy.feed(text)
                    given = given or bool(clean.strip())
                    if clean:
                        yield clean
                rest = tidy.end()
                given = given or bool(rest.strip())
                if rest:
                    yield rest
        finally:
            if answered:
                asked = "".join(message["content"] for message in messages)
                self._report(node, asked, "".join(said), reading.usage)
        fault = _ending(reading.finish, given=given)
        if fault:
            raise fault

    async def _open(self, stack: AsyncExitStack, messages: list[Message]) -> AsyncGenerator[bytes]:
        try:
            async with asyncio.timeout(self._idle):
                body = await stack.enter_async_context(self._endpoint.stream(messages))
                return await stack.enter_async_context(aclosing(body))
        except TimeoutError:
            raise faults.silent(self._idle) from None

    async def _read(self, body: AsyncGenerator[bytes], reading: Reading) -> AsyncGenerator[str]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._idle
        while not reading.done:
            try:
                async with asyncio.timeout_at(deadline):
                    data = await anext(body, None)
            except TimeoutError:
                if reading.finish:  # all is said; only the closing is missing
                    return
                raise faults.silent(self._idle) from None
            text = reading.end() if data is None else reading.feed(data)
            if reading.finish:
                deadline = min(deadline, loop.time() + _GRACE)
            elif reading.active:
                deadline = loop.time() + self._idle
            if text:
                yield text
            if reading.fault:
                raise reading.fault
            if data is None:
                return

    def _report(self, node: str, asked: str, said: str, count: TokenCount | None) -> None:
        if count and count.completion_tokens is not None and count.prompt_tokens is not None:
            usage = Usage(count.prompt_tokens, count.completion_tokens, estimated=False)
        else:
            usage = Usage(estimate(asked), estimate(said), estimated=True)
        self._calls.on_usage(node, usage)


def _messages(system: str, user: str) -> list[Message]:
    return [
        {"role": "system", "content": scrub(system)},
        {"role": "user", "content": scrub(user)},
    ]


def _ending(finish: str | None, *, given: bool) -> Fault | None:
    """What is wrong with how a stream ended, if anything."""
    if finish == "content_filter":
        return faults.filtered()
    if finish == "length":
        return faults.too_long()
    if not given:
        return faults.empty() if finish else faults.cut("no finish reason and no text")
    if finish is None:
        return faults.cut("no finish reason came")
    return None
