"""Several real workers on one database and one Redis, with all that can befall them."""

import shutil
import signal
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

import httpx

from tests.api.running import Running
from tests.conftest import migrated
from tests.proxy import Proxy
from tests.services import Databases, RedisServer, databases
from tests.simulator import Simulator

LEASE = 3.0
SCAN = 1.0
DRAIN = 6.0
POOL = 5
SHORT: Mapping[str, str] = {
    "LEASE_SECONDS": f"{LEASE:g}",
    "ORPHAN_SCAN_SECONDS": f"{SCAN:g}",
    "DRAIN_SECONDS": f"{DRAIN:g}",
    "HEARTBEAT_SECONDS": "1",
    "POOL_SIZE": f"{POOL}",
    "USER_MAX_RUNS": "1000",
    "USER_RUNS_PER_MINUTE": "100000",
}


@dataclass
class Member:
    """One worker. `postgres` and `redis`: the proxies that only its connections go through."""

    running: Running
    postgres: Proxy | None
    redis: Proxy | None
    frozen: bool = False
    read: int = 0  # bytes of its log that were looked at already

    @property
    def url(self) -> str:
        return self.running.url

    @property
    def alive(self) -> bool:
        return self.running.process.poll() is None

    def client(self) -> httpx.AsyncClient:
        return self.running.client()

    def kill(self) -> None:
        """SIGKILL."""
        self.running.stop(signal.SIGKILL)

    def freeze(self) -> None:
        """SIGSTOP: its connections stand and nothing answers."""
        self.running.process.send_signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        if self.frozen:
            self.running.process.send_signal(signal.SIGCONT)
            self.frozen = False

    def term(self) -> int:
        """SIGTERM, and the exit code once it has drained."""
        return self.running.stop(signal.SIGTERM)

    def restart(self) -> None:
        """A new process in its place, at a new address, where the old one is dead."""
        if not self.alive:
            self.running.restart()

    def fresh_log(self) -> str:
        """What it logged since the last time this was asked."""
        raw = self.running.log.read_bytes()[self.read :]
        self.read += len(raw)
        return raw.decode(errors="replace")


class Fleet:
    """`settings` for all workers, `each` for the one at that place; the model is simulated."""

    def __init__(
        self,
        size: int,
        settings: Mapping[str, str] | None = None,
        *,
        each: Sequence[Mapping[str, str]] = (),
        model: str = "sim-80x60-invent",
        proxies: bool = False,
        postgres: Databases | None = None,
    ) -> None:
        """`model`: by default one whose claims the gate has to repair.
        `proxies`: one before Postgres and one before Redis, for each worker.
        `postgres`: a server of its own, for a test that restarts it."""
        self.simulator = Simulator()
        self.redis = RedisServer()
        self.prefix = f"fleet-{uuid.uuid4().hex[:8]}:"
        self._databases = postgres or databases()
        self.database_url = self._databases.fresh(migrated)
        common = {
            **SHORT,
            "REDIS_PREFIX": self.prefix,
            "OPENAI_BASE_URL": self.simulator.url,
            "MODEL": model,
            **(settings or {}),
        }
        parts = [{**common, **(each[place] if place < len(each) else {})} for place in range(size)]
        # Starting is a second of work on another core for each.
        with ThreadPoolExecutor(size) as pool:
            self.members = list(pool.map(partial(self._member, proxies=proxies), parts))
        self.members[0].running.indexed()

    def _member(self, settings: Mapping[str, str], *, proxies: bool) -> Member:
        postgres = Proxy(self.database_url) if proxies else None
        redis = Proxy(self.redis.url) if proxies else None
        running = Running(
            postgres.url if postgres is not None else self.database_url,
            {"REDIS_URL": redis.url if redis is not None else self.redis.url, **settings},
        )
        return Member(running, postgres, redis)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __getitem__(self, place: int) -> Member:
        return self.members[place]

    def mend(self) -> None:
        """All that was broken works again; dead workers are started anew."""
        self.redis.thaw()
        self.redis.restart()
        for member in self.members:
            member.thaw()
            for proxy in (member.postgres, member.redis):
                if proxy is not None:
                    proxy.heal()
        with ThreadPoolExecutor(len(self.members)) as pool:
            list(pool.map(Member.restart, self.members))

    def stop(self) -> None:
        for member in self.members:
            member.thaw()
            member.kill()
            shutil.rmtree(member.running.folder, ignore_errors=True)
            for proxy in (member.postgres, member.redis):
                if proxy is not None:
                    proxy.close()
        self.simulator.stop()
        self.redis.stop()
        self._databases.drop(self.database_url)
