"""`python -m app.library.index`: reads what is queued, writes it, merges, and ends.

Started by the service, which gives it its task as one line of JSON on stdin and keeps stdin
open: when that closes, whoever started it is gone, and so goes this process. On stdout it
says in lines of JSON what it is at; a long silence there means that a file holds it up.
"""

import asyncio
import contextlib
import json
import os
import resource
import sys
import threading
import time
from collections.abc import AsyncGenerator
from typing import Any, Final
from uuid import uuid4

import structlog

from app.library import lease
from app.library.documents import MOST_ATTEMPTS, Documents, Todo
from app.library.intake import Batch, Failed, read_one
from app.library.segments import FAN, QUIET_FAN, merge_segments, next_merge, purge_retired
from app.logs import configure_logs
from registry.database import Database
from registry.errors import LeaseLost, StoreDown
from registry.pool import Limits

MEMORY: Final = 4 * 1024**3  # bytes of address space; a file that needs more is refused
NICE: Final = 5
PATIENCE: Final = 2.0  # seconds to end after stdin has closed
# A merge computes between two statements, and takes what it takes.
UNHURRIED: Final = Limits(statement=60, idle=60, transaction=None)
_TICK: Final = 0.5  # seconds between signs of life

log = structlog.get_logger(__name__)


class IndexRun:
    """One run: from the queue as it stands until it is empty."""

    def __init__(
        self,
        database: Database,
        holder: str,
        *,
        stop: threading.Event | None = None,
        quiet: bool = False,
    ) -> None:
        self._database = database
        self._documents = Documents(database)
        self._holder = holder
        self._batch = Batch()
        self._said = 0.0
        self._quiet = quiet
        self.done = 0
        self._stop = stop or threading.Event()

    async def run(self) -> None:
        """Raises `LeaseLost` when another process has taken over."""
        while not self._stop.is_set():
            todos = await self._documents.todo(200)
            if not todos:
                break
            for todo in todos:
                if self._stop.is_set():
                    break
                await self.take(todo)
            await self.write()
        if not self._stop.is_set():
            await self.tidy()

    async def take(self, todo: Todo) -> None:
        """Reads one document into the batch, and writes that where it is full."""
        # A file that may have taken the reader down before is read with nothing else at stake.
        alone = todo.attempts > 0
        if alone:
            await self.write()
        self.say(todo.name)
        if todo.attempts >= MOST_ATTEMPTS:
            reason = f"its reader crashed or hung {todo.attempts} times"
            self._batch.add(Failed(todo, reason))
        else:
            await self._documents.begin([todo.id])
            self._batch.add(read_one(todo, lambda: self.say(todo.name, every=_TICK)))
        if alone or self._batch.full:
            await self.write()

    async def write(self) -> None:
        """Writes what was read."""
        count = len(self._batch.items)
        await self._batch.write(self._database, self._holder)
        self.done += count
        if count:
            self.say(None)
            await self.tidy(FAN, most=1)

    async def tidy(self, fan: int = QUIET_FAN, *, most: int = 100) -> None:
        """Merges small segments, so that a search has few to look into."""
        for _ in range(most):
            todo = await next_merge(self._database, fan)
            if todo is None or self._stop.is_set():
                break
            async with self._database.transaction() as tx:
                await lease.renew(tx, self._holder)
                await merge_segments(tx, *todo)
            self.say(None)
        if fan == QUIET_FAN:
            await purge_retired(self._database)

    def say(self, name: str | None, *, every: float = 0.0) -> None:
        """A sign of life for whoever started this."""
        now = time.monotonic()
        if self._quiet or now - self._said < every:
            return
        self._said = now
        line = json.dumps({"current": name, "done": self.done})
        with contextlib.suppress(BrokenPipeError, ValueError):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


def _watch(stop: threading.Event) -> None:
    """Ends the process some time after stdin has closed, wherever it is then."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):  # not by `sys.stdin`, whose lock the interpreter's end needs
            pass
    stop.set()
    time.sleep(PATIENCE)
    os._exit(0)


@contextlib.asynccontextmanager
async def _opened(task: dict[str, Any]) -> AsyncGenerator[Database]:
    database = Database(task["url"], size=2, pooler=bool(task.get("pooler")), limits=UNHURRIED)
    try:
        await database.open()
        yield database
    finally:
        await database.close()


async def index(task: dict[str, Any], stop: threading.Event) -> None:
    holder = str(task.get("holder") or uuid4())
    async with _opened(task) as database:
        if not await lease.take(database, holder):
            return
        try:
            await IndexRun(database, holder, stop=stop).run()
        finally:
            await lease.give_back(database, holder)


def main() -> int:
    with contextlib.suppress(OSError):
        os.nice(NICE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    configure_logs(os.environ.get("LOG_LEVEL", "info").lower())
    line = sys.stdin.buffer.readline()
    if not line:
        return 0  # whoever started this is gone already
    task = json.loads(line)
    if "url" not in task:
        sys.stderr.write("started by the service; `python -m app serve` indexes by itself\n")
        return 2
    stop = threading.Event()
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    try:
        asyncio.run(index(task, stop))
    except LeaseLost:
        log.info("index_taken_over")
    except StoreDown as error:
        log.warning("index_stopped", reason=str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
