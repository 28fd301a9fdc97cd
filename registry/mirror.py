"""The mirror: events of this process's runs, copied to Redis Streams for readers elsewhere.

One stream per thread. An entry's id is the id of its last event, `<epoch>-<seq>`; its field
`n` is the sequence number of its first, `d` their frames. When a channel is closed an entry
`<epoch>-<CLOSED>` says in `z` which event was its last.

Invariants:
1. Off the hot path: writing a token only notes the channel as due. One pass sends what is due
   of all channels in one pipeline.
2. No queue: what is not sent yet is in the channel, and only there. Where the channel had to
   drop it, the next entry starts later, and a reader sees the gap.
3. Idempotent: Redis refuses an id that is not above the last. A refused entry is either one
   whose answer was lost, or of an epoch that has a successor; neither is sent again.
4. Every key gets a time to live in the pipeline that makes it.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import structlog
from redis.exceptions import ResponseError

from registry.channel import Channel, Logs
from registry.errors import BusDown
from registry.loops import Loop
from registry.redis_client import FAILURES, Client, reason_of

GATHER: Final = 0.02  # seconds: what comes within them goes in one pipeline
IDLE: Final = 5.0  # seconds a pass waits for something to do
FLUSH_BYTES: Final = 4 * 1024 * 1024  # the most one pipeline carries
CLOSED: Final = 2**64 - 1  # a sequence number above all others
ENTRY_BYTES: Final = 160  # of a small entry: turns the byte cap of a run into a length
SHORTEST: Final = 60  # seconds a key lives at least

log = structlog.get_logger(__name__)


def stream_key(prefix: str, thread_id: UUID) -> str:
    return f"{prefix}events:{thread_id}"


@dataclass(slots=True)
class _Sent:
    thread_id: UUID
    position: int  # sequence number of the last event that Redis has


class Mirror:
    """A `registry.channel.Watcher` and the loop that sends. `cap` and `retention` are those
    of the channels, in bytes and seconds."""

    def __init__(
        self, client: Client, logs: Logs, *, prefix: str, cap: int, retention: float
    ) -> None:
        self.loop = Loop("flusher", 0, self.work)
        self._client = client
        self._prefix = prefix
        self._length = max(cap // ENTRY_BYTES, 16)
        self._retention = retention
        self._ttl = round(max(retention, SHORTEST))
        self._due: dict[Channel, UUID] = {}
        self._sent: dict[Channel, _Sent] = {}  # of channels that are not closed and done
        self._gone: set[UUID] = set()
        self._lives: dict[UUID, float] = {}  # loop time until which a key surely lives
        self._some = asyncio.Event()
        self._lock = asyncio.Lock()
        self._doubt = False  # a pass failed: what Redis has must be asked
        logs.watcher = self

    # -- told by the logs

    def changed(self, thread_id: UUID, channel: Channel) -> None:
        self._due[channel] = thread_id
        self._some.set()

    def dropped(self, thread_id: UUID) -> None:
        self._gone.add(thread_id)
        self._some.set()

    @property
    def pending(self) -> bool:
        """Something is due that was not sent yet."""
        return bool(self._due or self._gone)

    # -- sending

    async def work(self) -> None:
        """One pass: waits until something is due, gathers for a moment, sends."""
        try:
            async with asyncio.timeout(IDLE):
                await self._some.wait()
        except TimeoutError:
            return
        await asyncio.sleep(GATHER)
        await self.flush()

    async def flush(self) -> None:
        """Sends what is due now. Raises `BusDown`; then it stays due."""
        async with self._lock:
            due, self._due = self._due, {}
            gone, self._gone = self._gone, set()
            self._some.clear()
            try:
                if self._doubt:
                    due = {**await self._compare(), **due}
                    self._doubt = False
                await self._send(due, gone)
            except FAILURES as error:
                self.doubt()
                self._due = {**self._worth_keeping(due), **self._due}
                self._gone |= gone
                raise BusDown(reason_of(error)) from error

    async def settle(self, seconds: float) -> None:
        """Sends what is due, if that can be done within `seconds`; never raises for Redis."""
        try:
            async with asyncio.timeout(seconds):
                await self.flush()
        except (BusDown, TimeoutError) as error:
            log.debug("mirror_not_settled", reason=reason_of(error))

    async def _send(self, due: dict[Channel, UUID], gone: set[UUID]) -> None:
        pipe: Any = self._client.pipeline(transaction=False)
        budget = FLUSH_BYTES
        reached: dict[Channel, int] = {}
        for thread_id in gone:
            pipe.delete(stream_key(self._prefix, thread_id))
            self._lives.pop(thread_id, None)
        for channel, thread_id in due.items():
            if thread_id in gone:
                self._sent.pop(channel, None)
                continue
            position, budget = self._add(pipe, channel, thread_id, budget)
            reached[channel] = position
        if not pipe.command_stack:
            return
        for result in await pipe.execute(raise_on_error=False):
            if isinstance(result, ResponseError):
                if "equal or smaller" not in str(result):
                    log.warning("mirror_refused", reason=reason_of(result))
            elif isinstance(result, Exception):
                raise result
        for channel, position in reached.items():
            self._note(channel, due[channel], position)

    def _add(self, pipe: Any, channel: Channel, thread_id: UUID, budget: int) -> tuple[int, int]:
        """Puts what stands after the sent position into the pipe, as far as the budget goes."""
        key = stream_key(self._prefix, thread_id)
        sent = self._sent.get(channel)
        position = sent.position if sent is not None else 0
        while budget > 0 and (batch := channel.after(position)) is not None:
            fields = {"n": batch.first.seq, "d": batch.data}
            pipe.xadd(key, fields, id=str(batch.last), maxlen=self._length, approximate=True)
            position = batch.last.seq
            budget -= len(batch.data)
        if channel.closed_at is not None and channel.after(position) is None:
            # Above the closing marker nothing of this epoch can come any more.
            marker = f"{channel.epoch}-{CLOSED}"
            pipe.xadd(key, {"z": channel.last_id.seq}, id=marker, maxlen=self._length)
        now = asyncio.get_running_loop().time()
        if self._lives.get(thread_id, 0) < now + self._ttl / 2:
            pipe.expire(key, self._ttl)
            self._lives[thread_id] = now + self._ttl
        return position, budget

    def _note(self, channel: Channel, thread_id: UUID, position: int) -> None:
        if channel.closed_at is not None and channel.after(position) is None:
            self._sent.pop(channel, None)
            self._lives.pop(thread_id, None)
            return
        self._sent[channel] = _Sent(thread_id, position)
        if channel.after(position) is not None:  # the budget was spent, or more has come
            self.changed(thread_id, channel)

    def _worth_keeping(self, due: dict[Channel, UUID]) -> dict[Channel, UUID]:
        """Without channels that closed so long ago that the logs have forgotten them."""
        limit = asyncio.get_running_loop().time() - self._retention
        kept = {c: t for c, t in due.items() if c.closed_at is None or c.closed_at > limit}
        for channel in due.keys() - kept.keys():
            self._sent.pop(channel, None)
        return kept

    def doubt(self) -> None:
        """Redis may have lost what it had: at the next pass it is asked."""
        self._doubt = True
        self._some.set()

    async def _compare(self) -> dict[Channel, UUID]:
        """What Redis has lost of the channels that are still written; to be sent again."""
        self._lives.clear()
        tracked = list(self._sent.items())
        pipe: Any = self._client.pipeline(transaction=False)
        for _, sent in tracked:
            pipe.xrevrange(stream_key(self._prefix, sent.thread_id), count=1)
        found: list[Any] = await pipe.execute() if tracked else []
        for (channel, sent), top in zip(tracked, found, strict=True):
            epoch, _, seq = (top[0][0].decode() if top else "0-0").partition("-")
            if int(epoch) < channel.epoch:
                sent.position = 0
            elif int(epoch) == channel.epoch:
                sent.position = min(sent.position, int(seq))
        return {channel: sent.thread_id for channel, sent in tracked}
