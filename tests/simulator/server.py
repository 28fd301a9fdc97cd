"""The HTTP side: routes, counters, and one connection's life."""

import asyncio
import contextlib
import json
import re
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.simulator.completion import Body, Completion, error
from tests.simulator.script import Script, refusal
from tests.simulator.stream import Stream, Ticker

CUT_SECONDS = 0.5
STOP_AT = 10  # frames sent before a scripted stall, cut or silence
MODELS: Body = {"object": "list", "data": [{"id": "sim-50x400", "object": "model"}]}


@dataclass
class Stats:
    """Counters since the start or the last reset."""

    open: int = 0
    started: int = 0
    finished: int = 0
    aborted: int = 0
    aborts: list[float] = field(default_factory=list[float])  # Unix times, the last 1,000
    requests: list[Any] = field(default_factory=list[Any])  # bodies, the last 200


class Server:
    def __init__(self) -> None:
        self._stats = Stats()
        self._calls: dict[str, int] = {}
        self.ticker = Ticker()

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves requests until one of them, or the client, ends the connection."""
        try:
            while await self._request(reader, writer):
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, path, _ = head.split(" ", 2)
        length = re.search(r"(?i)content-length: *(\d+)", head)
        raw = await reader.readexactly(int(length[1])) if length else b""
        if path.endswith("/chat/completions") and method == "POST":
            return await self._complete(json.loads(raw or b"{}"), reader, writer)
        if path.endswith("/models"):
            writer.write(reply(200, MODELS))
        elif path == "/stats":
            writer.write(reply(200, asdict(self._stats)))
        elif path == "/reset":
            self._stats, self._calls = Stats(open=self._stats.open), {}
            writer.write(reply(200, {}))
        else:
            writer.write(reply(404, {"error": {"message": path}}))
        return True

    async def _complete(
        self, body: Body, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answers one chat call; False where the connection must close."""
        model = str(body.get("model", ""))
        stats = self._stats
        stats.started += 1
        stats.requests = [*stats.requests[-199:], body]
        self._calls[model] = self._calls.get(model, 0) + 1
        script = Script.of(model)
        faults = script.faults(self._calls[model])
        keep = "close" not in faults
        refused = refusal(faults)
        if refused is not None:
            status, headers, code = refused
            writer.write(reply(status, error(code), headers))
            return keep
        if "noschema" in faults and (body.get("response_format") or body.get("tools")):
            writer.write(reply(400, error("scripted")))
            return keep
        completion = Completion.of(body, stats.started, script, faults)
        if not body.get("stream"):
            stats.finished += 1
            writer.write(reply(200, completion.whole()))
            return keep
        await self._stream(completion, script.rate, reader, writer)
        return False

    async def _stream(
        self,
        completion: Completion,
        rate: float,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        faults = frozenset(completion.faults)
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        stream = Stream(
            writer,
            completion.frames(),
            rate,
            stop_at=STOP_AT if faults & {"stall", "cut", "comments"} else None,
            comments="comments" in faults,
        )
        self.ticker.streams.add(stream)
        self._stats.open += 1
        try:
            async with asyncio.TaskGroup() as group:
                ends = [group.create_task(stream.done.wait()), group.create_task(_gone(reader))]
                if "cut" in faults:
                    ends.append(group.create_task(_later(CUT_SECONDS)))
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                for end in ends:
                    end.cancel()
        finally:
            self.ticker.streams.discard(stream)
            self._stats.open -= 1
            if stream.done.is_set():
                writer.write(b"0\r\n\r\n")
                self._stats.finished += 1
            else:
                self._stats.aborted += 1
                self._stats.aborts = [*self._stats.aborts[-999:], time.time()]


async def _gone(reader: asyncio.StreamReader) -> bool:
    """Ends when the client closes its side, or breaks off."""
    with contextlib.suppress(ConnectionError):
        await reader.read(1)
    return True


async def _later(seconds: float) -> bool:
    await asyncio.sleep(seconds)
    return True


def reply(status: int, body: Any, headers: str = "") -> bytes:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}"
    return f"{head}\r\n{headers}\r\n".encode() + data


async def serve(port: int, *, while_stdin: bool = False) -> None:
    """Serves until cancelled, or until standard input ends; says its address first."""
    state = Server()
    over = asyncio.Event()
    if while_stdin:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), over.set)
    listener = await asyncio.start_server(state.connection, "127.0.0.1", port, backlog=2048)
    address = listener.sockets[0].getsockname()
    print(f"llm simulator on http://127.0.0.1:{address[1]}/v1", flush=True)
    async with listener, asyncio.TaskGroup() as group:
        pump = group.create_task(state.ticker.run())
        await over.wait()
        pump.cancel()
