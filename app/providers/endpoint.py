"""`Endpoint`: the connection to an OpenAI-compatible service, one for the whole process.

It is a langchain-openai chat model over the aiohttp transport: that one hands on all bytes
that have arrived, and its socket closes at once when a call is cancelled. Calls go through
the model's own client, raw: what a reader sees is decoded once, by `chunks.py`.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
import openai
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.chat import ChatCompletion
from pydantic import SecretStr

from app.providers.faults import cut, no_stream, of_error

CONNECT_SECONDS: Final = 10.0
_NO_KEY: Final = "none"  # local endpoints want some key, whatever it is
RUNGS: Final = ("schema", "tool", "text")

Message = Mapping[str, str]


class Endpoint:
    """Close it with `aclose` when the process shuts down."""

    def __init__(self, *, model: str, base_url: str | None, api_key: SecretStr | None) -> None:
        # No read timeout: silence is timed where text is told from keep-alives.
        timeout = httpx2.Timeout(connect=CONNECT_SECONDS, read=None, write=30.0, pool=60.0)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self._http = DefaultAioHttpClient(timeout=timeout, limits=limits)
        self._chat = ChatOpenAI(
            model=model,
            base_url=base_url,
            api_key=api_key or SecretStr(_NO_KEY),
            http_async_client=self._http,
            timeout=timeout,
            max_retries=0,
            stream_usage=True,
            stream_chunk_timeout=None,
        )
        self.model = model
        self.rung = 0  # of RUNGS: the best one that this endpoint is known to take
        self._count_asked = True  # does it take stream_options

    @property
    def address(self) -> str:
        """Where calls go, without credentials or query."""
        url = httpx2.URL(self._client.base_url)
        return f"{url.scheme}://{url.host}{f':{url.port}' if url.port else ''}{url.path}".rstrip(
            "/"
        )

    @property
    def _client(self) -> AsyncOpenAI:
        return self._chat.root_async_client

    @asynccontextmanager
    async def stream(self, messages: list[Message]) -> AsyncGenerator[AsyncGenerator[bytes]]:
        """The bytes of a streamed answer as they come. Raises `Fault`."""
        try:
            async with self._opened(messages) as response:
                yield response
        except openai.OpenAIError as error:
            raise of_error(error, self.address) from error
        except httpx2.HTTPError as error:
            raise cut() from error

    @asynccontextmanager
    async def _opened(self, messages: list[Message]) -> AsyncGenerator[AsyncGenerator[bytes]]:
        create: Any = self._client.chat.completions.with_streaming_response.create
        body: dict[str, Any] = {"model": self.model, "messages": messages, "stream": True}
        counted = {**body, "stream_options": {"include_usage": True}}
        try:
            async with create(**(counted if self._count_asked else body)) as response:
                yield response.iter_bytes()
        except openai.BadRequestError as error:
            if not self._count_asked or "stream_options" not in str(error):
                raise
            self._count_asked = False
            async with create(**body) as response:
                yield response.iter_bytes()

    async def complete(self, messages: list[Message], **more: Any) -> ChatCompletion:
        """A whole answer. Raises `Fault`."""
        create: Any = self._client.chat.completions.create
        try:
            answer = await create(model=self.model, messages=messages, **more)
        except openai.OpenAIError as error:
            raise of_error(error, self.address) from error
        except httpx2.HTTPError as error:
            raise cut() from error
        except ValueError as error:  # a body that is no JSON
            raise no_stream("something else than a chat completion") from error
        if not isinstance(answer, ChatCompletion):
            raise no_stream("something else than a chat completion")
        return answer

    async def aclose(self) -> None:
        await self._http.aclose()
