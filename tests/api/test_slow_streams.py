"""Streams of a slow run: beats, age, a stalled reader, a shutdown. The model is simulated."""

import asyncio
import signal
import socket
import time
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.conftest import GARDEN
from tests.api.eventstream import Parser
from tests.api.reading import approve, finished, follow, names, start, state, stream, waiting
from tests.api.running import Running
from tests.conftest import migrated
from tests.services import databases
from tests.simulator import Simulator

QUESTION = "How much honey does a colony of bees need for the winter?"


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as made:
        yield made


@pytest.fixture(scope="module")
def slow(_template: None, simulator: Simulator) -> Iterator[Running]:
    """Two tokens a second, one run at a time, a beat every 0.3 s, streams cut after 2 s."""
    url = databases().fresh(migrated)
    settings = {
        "OPENAI_BASE_URL": simulator.url,
        "MODEL": "sim-2x400",
        "HEARTBEAT_SECONDS": "0.3",
        "STREAM_MAX_SECONDS": "2",
        "SEND_TIMEOUT_SECONDS": "1",
        "DRAIN_SECONDS": "10",
        "MAX_RUNS": "1",
    }
    with Running(url, settings, documents={"garden.md": GARDEN}) as made:
        made.indexed()
        yield made
    databases().drop(url)


@pytest.fixture
async def client(slow: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with slow.client() as made:
        yield made


async def _read(response: httpx.Response, parser: Parser) -> list[float]:
    """Feeds all of the stream; times between its pieces, in seconds."""
    gaps, before = list[float](), time.perf_counter()
    async for chunk in response.aiter_raw():
        now = time.perf_counter()
        gaps.append(now - before)
        before = now
        parser.feed(chunk)
    return gaps


async def test_f20_a_waiting_run_beats_and_an_old_stream_is_cut_cleanly(
    client: httpx.AsyncClient,
) -> None:
    busy = await start(client, QUESTION, review_plan=False)
    queued = await start(client, QUESTION)
    seen = await state(client, queued)
    assert (seen["status"], seen["queue"]) == ("pending", {"position": 1, "eta_seconds": None})
    parser, began = Parser(), time.perf_counter()
    async with stream(client, queued) as response:
        gaps = await _read(response, parser)
    assert 1.9 < time.perf_counter() - began < 3.5
    assert max(gaps) < 1.3
    assert parser.comments[0] == "open"
    assert parser.comments.count("ping") >= 4
    assert names(parser.events) == ["run.queued"]
    assert parser.retry == 1000
    for thread in (queued, busy):
        stopped = await client.post(f"/api/threads/{thread}/cancel", json={"wait": True})
        assert stopped.json()["status"] == "cancelled"


async def test_f19_a_shutdown_says_goodbye_to_every_reader_and_keeps_the_run(
    client: httpx.AsyncClient, slow: Running
) -> None:
    thread = await start(client, QUESTION, review_plan=False)
    parsers = [Parser() for _ in range(10)]

    async def read(parser: Parser) -> None:
        async with slow.client() as reader, stream(reader, thread) as response:
            await _read(response, parser)

    async with asyncio.TaskGroup() as group:
        for parser in parsers:
            group.create_task(read(parser))
        while not all(parser.events for parser in parsers):
            await asyncio.sleep(0.01)
        began = time.perf_counter()
        code = await asyncio.to_thread(slow.stop)
    assert code == 0
    assert time.perf_counter() - began < 10
    for parser in parsers:
        assert parser.retry == 1000
        assert not {"run.failed", "run.cancelled"} & set(names(parser.events))
    log = slow.log.read_text()
    assert "Traceback" not in log
    assert "pool is closed" not in log
    assert "drain_finished" in log
    await asyncio.to_thread(slow.restart)
    async with slow.client() as again:
        seen = await state(again, thread)
        assert seen["status"] in ("pending", "running")
        assert seen["run"]["attempt"] == 1
        stopped = await again.post(f"/api/threads/{thread}/cancel", json={"wait": True})
        assert stopped.json()["status"] == "cancelled"


async def test_f18_a_second_signal_ends_it_at_once_and_the_run_goes_on_later(
    client: httpx.AsyncClient, slow: Running
) -> None:
    thread = await start(client, QUESTION, review_plan=False)
    async with stream(client, thread) as response:
        await anext(response.aiter_raw())
        slow.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.1)  # the second comes while the first is being served
        code = await asyncio.to_thread(slow.stop)
    assert code == 0
    log = slow.log.read_text()
    assert "Traceback" not in log
    assert "pool is closed" not in log
    await asyncio.to_thread(slow.restart)
    async with slow.client() as again:
        assert (await state(again, thread))["status"] in ("pending", "running")
        stopped = await again.post(f"/api/threads/{thread}/cancel", json={"wait": True})
        assert stopped.json()["status"] == "cancelled"


async def test_f63_a_reader_that_never_reads_is_cut_off(server: Running) -> None:
    """Many pipelined requests on one connection, and not a byte read of the answers."""
    async with server.client() as client:
        thread = await finished(client, QUESTION)
    where = urlsplit(server.url)
    request = f"GET /api/threads/{thread}/events?after=0-0 HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n"
    with socket.socket() as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.connect((where.hostname, where.port))
        stalled.settimeout(20)
        began = time.perf_counter()
        await asyncio.to_thread(stalled.sendall, request.encode() * 150)
        while "reader_stalled" not in server.log.read_text():
            assert time.perf_counter() - began < 15
            await asyncio.sleep(0.05)
        async with server.client() as other:
            assert "research_streams 0" in (await other.get("/metrics")).text
        with pytest.raises(ConnectionError):
            await asyncio.to_thread(_drain, stalled)
    assert "Traceback" not in server.log.read_text()


def _drain(connection: socket.socket) -> None:
    while connection.recv(65_536):
        continue
    raise ConnectionError("closed")


async def test_f12_many_open_streams_hold_no_database_connection(
    client: httpx.AsyncClient, slow: Running
) -> None:
    thread = await start(client, QUESTION, review_plan=False)
    async with asyncio.TaskGroup() as group:
        readers = [group.create_task(_hold(slow, thread)) for _ in range(25)]
        while True:
            metrics = (await client.get("/metrics")).text
            if "research_streams 25" in metrics:
                break
            await asyncio.sleep(0.02)
        began = time.perf_counter()
        await state(client, thread)
        assert (await client.get("/readyz")).status_code == 200
        assert time.perf_counter() - began < 1
        for reader in readers:
            reader.cancel()
    stopped = await client.post(f"/api/threads/{thread}/cancel", json={"wait": True})
    assert stopped.json()["status"] == "cancelled"


async def _hold(slow: Running, thread: str) -> None:
    async with slow.client() as reader, stream(reader, thread) as response:
        await _read(response, Parser())


async def test_f36_tokens_of_a_hostile_model_stay_text(
    database_url: str, simulator: Simulator
) -> None:
    settings = {"OPENAI_BASE_URL": simulator.url, "MODEL": "sim-0x60-nul"}
    with Running(database_url, settings, documents={"garden.md": GARDEN}) as made:
        made.indexed()
        async with made.client() as client:
            thread = await waiting(client, QUESTION)
            await approve(client, thread)
            events = await follow(client, thread)
            known = set(names(events))
            assert known <= KNOWN, known - KNOWN
            for event in events:
                assert "\x00" not in event.text
                assert len(event.text.splitlines()) == 1
                assert "ts" in event.data


KNOWN = {
    *("run.queued", "run.started", "run.waiting", "run.succeeded", "run.failed"),
    *("node.started", "node.finished", "plan", "search", "search.failed", "source"),
    *("source.failed", "finding", "section.started", "token", "section", "verdict", "report"),
    *("retry", "usage", "interrupt", "requirement"),
}
