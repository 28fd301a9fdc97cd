"""The proxy that other tests rely on: it delays without slowing, and breaks what it is told to."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator

import psycopg
import pytest

from tests.proxy import Proxy
from tests.services import databases, redis_server
from tests.waiting import until


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    """In front of a server that sends back what it gets."""
    server = await asyncio.start_server(_echo, "127.0.0.1", 0)
    with Proxy(server.sockets[0].getsockname()) as made:
        yield made
    server.close()


async def _connect(proxy: Proxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", proxy.port)


async def test_bytes_and_ends_pass(proxy: Proxy) -> None:
    reader, writer = await _connect(proxy)
    body = bytes(range(256)) * 8192
    writer.write(body)
    writer.write_eof()
    assert await reader.read() == body
    writer.close()
    await until(lambda: proxy.open == 0)
    assert (proxy.accepted, proxy.bytes_up, proxy.bytes_down) == (1, len(body), len(body))


async def test_a_delay_is_added_once_however_much_follows(proxy: Proxy) -> None:
    reader, writer = await _connect(proxy)
    proxy.delay(up_ms=60, down_ms=40)
    began = time.monotonic()
    for _ in range(50):
        writer.write(b"x" * 100)
        await asyncio.sleep(0.001)  # chunks of their own
    await reader.readexactly(5000)
    taken = time.monotonic() - began
    assert 0.1 <= taken < 1.5, taken  # one after the other they would take 5 s
    writer.close()


async def test_paused_bytes_come_after_all(proxy: Proxy) -> None:
    reader, writer = await _connect(proxy)
    proxy.pause()
    writer.write(b"held")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await reader.read(1)
    proxy.resume()
    assert await reader.readexactly(4) == b"held"
    writer.close()


async def test_a_dropped_connection_stays_silent_and_a_new_one_works(proxy: Proxy) -> None:
    reader, writer = await _connect(proxy)
    writer.write(b"1")
    assert await reader.read(1) == b"1"
    proxy.drop()
    late_reader, late = await _connect(proxy)
    for end in (writer, late):
        end.write(b"2")
    proxy.heal()
    fresh_reader, fresh = await _connect(proxy)
    fresh.write(b"3")
    assert await fresh_reader.read(1) == b"3"
    for silent in (reader, late_reader):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await silent.read(1)
    for end in (writer, late, fresh):
        end.close()
    await until(lambda: proxy.open == 0)


async def test_a_reset_is_one(proxy: Proxy) -> None:
    reader, writer = await _connect(proxy)
    writer.write(b"1")
    await reader.read(1)
    proxy.reset()
    with pytest.raises(ConnectionResetError):
        await reader.read(1)
    writer.close()


async def test_refused_until_healed_and_what_stands_stays(proxy: Proxy) -> None:
    reader, writer = await _connect(proxy)
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        await _connect(proxy)
    writer.write(b"1")
    assert await reader.read(1) == b"1"
    proxy.heal()
    _, fresh = await _connect(proxy)
    for end in (writer, fresh):
        end.close()


async def test_an_upstream_that_is_gone_breaks_the_connection() -> None:
    async def talk(proxy: Proxy) -> None:
        reader, _ = await _connect(proxy)
        await reader.read(1)

    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        with Proxy(taken.getsockname()) as proxy, pytest.raises(ConnectionResetError):
            await talk(proxy)


def test_postgres_on_its_socket_and_redis_on_its_port() -> None:
    with Proxy(databases().url) as proxy:
        with psycopg.connect(proxy.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert proxy.accepted == 1
    with (
        Proxy(redis_server().url) as proxy,
        socket.create_connection(("127.0.0.1", proxy.port)) as connection,
    ):
        connection.sendall(b"PING\r\n")
        assert connection.recv(16).startswith(b"+PONG")
