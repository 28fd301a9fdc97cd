"""Indexer: the service's side of indexing. Looks for changes, runs the indexing process.

The process is started when there is something to read, and ends when all is read. It dies
with this one because it reads its stdin; one that is silent for too long is killed, and the
file it was at counts an attempt.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import structlog

from app.library import lease
from app.library.library import DocumentLibrary
from app.library.roots import PROJECT, roots_of, survey
from registry.errors import StoreDown
from registry.loops import Loop
from registry.settle import settle

RESCAN_SECONDS: Final = 5.0
SILENCE_SECONDS: Final = 90.0  # the longest that one file may take between two signs of life
COLLECT_SECONDS: Final = 60.0
STARTING_SECONDS: Final = 30.0  # on top of that, before the first sign
GOODBYE_SECONDS: Final = 3.0

log = structlog.get_logger(__name__)


class Indexer:
    """`loop` is for whoever runs the service's loops; a pass ends when all is indexed.

    Raises `StartRefused` where `documents_dir` is not a folder.
    """

    def __init__(
        self,
        url: str,
        documents_dir: Path | None,
        library: DocumentLibrary,
        *,
        project: Path = PROJECT,
        silence_seconds: float = SILENCE_SECONDS,
        rescan_seconds: float = RESCAN_SECONDS,
    ) -> None:
        self.roots = roots_of(documents_dir, project)
        self.loop = Loop("index", rescan_seconds, self._pass)
        self._url = url
        self._database = library.database
        self._documents = library.documents
        self._snapshots = library.snapshots
        self._holder = str(uuid4())
        self._silence = silence_seconds
        self._heard = 0.0
        self._collected = 0.0
        self._unseen: set[tuple[str, str]] = set()  # said in the log already
        self._progress: dict[str, Any] = {
            "indexed": 0,
            "pending": 0,
            "failed": 0,
            "total": 0,
            "current": None,
            "since": None,  # when the indexing that goes on now began
        }

    def progress(self) -> dict[str, Any]:
        """Counts of the shared documents, and the file being read now."""
        return dict(self._progress)

    async def _pass(self) -> None:
        await self.rescan()
        if self._progress["pending"] and await lease.free(self._database, self._holder):
            await self._index()
        now = time.monotonic()
        if now - self._collected > COLLECT_SECONDS:
            self._collected = now
            await self._snapshots.collect()

    async def rescan(self) -> None:
        """One look at the folders: what is new, changed or gone counts from now on."""
        seen = await asyncio.to_thread(survey, self.roots)
        for (root, prefix), reason in seen.unseen.items():
            if (root, prefix) not in self._unseen:
                log.warning("folder_unreadable", folder=str(Path(root, prefix)), reason=reason)
        self._unseen = set(seen.unseen)
        await self._documents.reconcile(seen)
        await self._count()

    async def _count(self) -> None:
        now = await self._documents.coverage(None)
        busy = now.pending > 0
        since = self._progress["since"] or datetime.now(UTC).isoformat(timespec="seconds")
        self._progress.update(
            indexed=now.indexed,
            pending=now.pending,
            failed=now.failed,
            total=now.indexed + now.pending + now.failed,
            since=since if busy else None,
        )

    async def _index(self) -> None:
        """Runs the process to its end, and keeps looking for changes meanwhile."""
        began = time.monotonic()
        async with self._process() as process, asyncio.TaskGroup() as group:
            listening = group.create_task(self._listen(process))
            while not listening.done():
                await asyncio.wait({listening}, timeout=self.loop.period)
                if listening.done():
                    break
                if time.monotonic() - self._heard > self._silence:
                    log.warning("index_silent", name=self._progress["current"])
                    process.kill()
                self.loop.beat = asyncio.get_running_loop().time()
                with contextlib.suppress(StoreDown):  # the process says so too, and ends
                    await self.rescan()
        self._progress["current"] = None
        if process.returncode:
            log.warning("index_process_died", code=process.returncode)
        await self._count()
        log.info(
            "documents_indexed",
            seconds=round(time.monotonic() - began, 1),
            **{name: self._progress[name] for name in ("indexed", "pending", "failed")},
        )

    async def _listen(self, process: Process) -> None:
        if process.stdout is None:
            return
        done = 0
        while line := await process.stdout.readline():
            self._heard = time.monotonic()
            said = json.loads(line)
            self._progress["current"] = said["current"]
            if said["done"] != done:
                done = said["done"]
                with contextlib.suppress(StoreDown):
                    await self._count()

    @contextlib.asynccontextmanager
    async def _process(self) -> AsyncGenerator[Process]:
        task = {
            "url": self._url,
            "pooler": self._database.pooler,
            "holder": self._holder,
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.library.index"),
            stdin=PIPE,
            stdout=PIPE,
            cwd=PROJECT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # a Ctrl-C is for the service, which then closes stdin
        )
        self._heard = time.monotonic() + STARTING_SECONDS
        try:
            if process.stdin is not None:
                process.stdin.write(json.dumps(task).encode() + b"\n")
                with contextlib.suppress(ConnectionError):
                    await process.stdin.drain()
            yield process
        finally:
            await settle(_farewell(process))


async def _farewell(process: Process) -> None:
    """Its stdin closed, a moment to give the lease back, then the hard way."""
    if process.stdin is not None:
        process.stdin.close()
    if process.returncode is None:
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
