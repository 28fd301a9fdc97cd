"""The end of a stream: its own, by age, by a shutdown, by its reader."""

import asyncio
from collections.abc import AsyncIterator

from app.stream.response import OPENING, PING, beating
from app.stream.streams import Streams
from tests.waiting import until


class Source:
    """A stream under the test's control."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.closed = False

    async def frames(self) -> AsyncIterator[bytes]:
        try:
            while (item := await self.queue.get()) is not None:
                yield item
        finally:
            self.closed = True


async def _rest(stream: AsyncIterator[bytes]) -> list[bytes]:
    return [item async for item in stream]


async def test_a_stream_that_ends_is_passed_through() -> None:
    streams, source = Streams(max_seconds=60), Source()
    for item in (b"a", b"b", None):
        source.queue.put_nowait(item)
    assert await _rest(streams.bounded(source.frames())) == [b"a", b"b"]
    assert source.closed
    assert streams.open == 0


async def test_an_old_stream_ends_with_a_retry_line() -> None:
    streams, source = Streams(max_seconds=0.05), Source()
    source.queue.put_nowait(b"a")
    assert await _rest(streams.bounded(source.frames())) == [b"a", b"retry: 1000\n\n"]
    assert source.closed


async def test_a_shutdown_ends_silent_streams_at_once() -> None:
    streams, sources = Streams(max_seconds=60), [Source() for _ in range(20)]
    async with asyncio.timeout(2), asyncio.TaskGroup() as group:
        tasks = [group.create_task(_rest(streams.bounded(s.frames()))) for s in sources]
        await until(lambda: streams.open == len(sources))
        assert await streams.close_all(1)
    assert [task.result() for task in tasks] == [[b"retry: 1000\n\n"]] * len(sources)
    assert all(source.closed for source in sources)
    assert await _rest(streams.bounded(Source().frames())) == [b"retry: 1000\n\n"]


async def test_a_reader_who_leaves_closes_the_stream() -> None:
    streams, source = Streams(max_seconds=60), Source()
    stream = beating(streams.bounded(source.frames()), 60)
    async with asyncio.timeout(2), asyncio.TaskGroup() as group:
        reading = group.create_task(_rest(stream))
        await until(lambda: streams.open == 1)
        reading.cancel()
    assert source.closed
    assert streams.open == 0


async def test_the_opening_comes_before_anything_is_read_and_beats_fill_silence() -> None:
    streams, source = Streams(max_seconds=60), Source()
    stream = beating(streams.bounded(source.frames()), 0.02)
    assert await anext(stream) == OPENING
    assert streams.open == 0
    assert await anext(stream) == PING
    assert await anext(stream) == PING
    source.queue.put_nowait(b"late")
    source.queue.put_nowait(None)
    assert [item for item in await _rest(stream) if item != PING] == [b"late"]
