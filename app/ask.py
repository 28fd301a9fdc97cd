"""`python -m app ask`: one question, researched in this terminal.

The run executes in a task of this process (`TaskRegistry.register_current`), on the same
database as the service; so it can be resumed here, or on the page, if it was stopped.
"""

import asyncio
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from app.api.access import LOCAL
from app.api.problems import problem_of
from app.api.schemas import Start
from app.api.views import first_title
from app.export.markdown import to_markdown
from app.export.report import pick
from app.root import Service, open_service
from app.settings import Settings
from app.terminal import Screen, events_of, harmless
from graph.answers import validate_answer
from registry.commands import Commands
from registry.errors import RegistryError, RunActive
from registry.events import EventId, encode_json
from registry.follow import Position
from registry.run import ACTIVE, Interrupt, Run, Status
from registry.transitions import Placed

SHOW_SECONDS = 5.0  # the longest the screen may lag behind a run that has ended
STOPPED = 130  # exit code, as a shell has it for a Ctrl-C


@dataclass(frozen=True, slots=True)
class AskOptions:
    """`start` for a new question, `thread` to go on with an old one."""

    start: Start | None
    thread: UUID | None
    out: Path | None
    as_json: bool
    review: bool


async def ask(settings: Settings, options: AskOptions) -> int:
    """The exit code: 0 with a report, 1 for a failure, 130 where the person stopped it."""
    screen = Screen()
    terminal = _Terminal(screen, options)
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()

    def signalled() -> None:
        if terminal.stop.is_set() or not terminal.up:
            if main is not None:
                main.cancel()
        else:
            terminal.stop.set()

    for sig in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sig, signalled)
    screen.busy("Starting")
    try:
        async with open_service(settings, serve=False) as service:
            try:
                return await terminal.go(service)
            except RegistryError as error:
                screen.note(problem_of(error).detail, "red")
                return 1
    finally:
        screen.rest()


class _Terminal:
    def __init__(self, screen: Screen, options: AskOptions) -> None:
        self._screen = screen
        self._options = options
        self._placed: list[Placed] = []
        self.stop = asyncio.Event()
        self.up = False

    async def go(self, service: Service) -> int:
        commands = Commands(service.worker, launch=self._placed.append)
        await self._index(service)
        thread_id = await self._begin(commands)
        self.up = True
        while True:
            if self._placed:
                await self._execute(service, commands, self._placed.pop())
            run = await commands.latest(thread_id)
            if run.status is Status.WAITING:
                if not await self._answer(commands, run):
                    return self._left(run, "It waits for your answer.", STOPPED)
            elif run.status is Status.SUCCEEDED:
                return await self._deliver(service, run)
            elif run.status is Status.CANCELLED:
                return self._left(run, "Stopped.", STOPPED)
            elif run.status in ACTIVE:
                raise RunActive(thread_id, run.run_id)
            else:
                detail = str((run.problem or {}).get("detail") or f"The run is {run.status}.")
                return self._left(run, detail, 1)

    async def _index(self, service: Service) -> None:
        """What the folder holds now; a service that runs beside this has it already."""
        self._screen.busy("Indexing documents")
        await service.indexer.loop.work()

    async def _begin(self, commands: Commands) -> UUID:
        start, thread_id = self._options.start, self._options.thread
        if start is not None:
            made = await commands.start(
                LOCAL.name,
                question=start.question,
                title=first_title(start.question),
                input=start.work(),
                priority=start.priority,
            )
            return made.thread_id
        if thread_id is None:
            raise ValueError("neither a question nor a thread")
        await commands.thread(LOCAL.name, thread_id)
        run = await commands.latest(thread_id)
        if run.status not in (Status.WAITING, Status.SUCCEEDED):
            await commands.resume(LOCAL.name, thread_id)
        return thread_id

    async def _execute(self, service: Service, commands: Commands, placed: Placed) -> None:
        """Executes the run to its end, shows its events, and stops it for a signal."""
        async with asyncio.TaskGroup() as group:
            showing = group.create_task(self._show(service, placed.run))
            stopping = group.create_task(self._stop(commands, placed.run))
            running = group.create_task(service.worker.execute_here(placed))
            await asyncio.wait({running})
            await asyncio.wait({showing}, timeout=SHOW_SECONDS)
            showing.cancel()
            stopping.cancel()
        self._screen.rest()

    async def _show(self, service: Service, run: Run) -> None:
        start = Position(EventId(run.first_epoch, 0))
        async for batch in service.follower.frames(run.thread_id, start):
            for name, data in events_of(batch):
                self._screen.event(name, data)

    async def _stop(self, commands: Commands, run: Run) -> None:
        await self.stop.wait()
        self._screen.busy("Stopping")
        await commands.cancel(LOCAL.name, run.thread_id, by=LOCAL.name)

    async def _answer(self, commands: Commands, run: Run) -> bool:
        """Answers the first interrupt; False where the person would not."""
        asked = run.interrupts[0]
        if self._options.review and self._screen.interactive:
            value = await self._screen.answer(asked.kind, asked.payload, self.stop)
        else:
            value = _default_answer(asked)
        if value is None or self.stop.is_set():
            return False
        checked = validate_answer(asked.kind, asked.payload, value)
        await commands.answer(LOCAL.name, run.thread_id, interrupt_id=asked.id, value=checked)
        return True

    async def _deliver(self, service: Service, run: Run) -> int:
        report = pick(await service.states.raw(run), None)
        if report is None:
            return self._left(run, "The run ended without a report.", 1)
        text = encode_json(report).decode() + "\n" if self._options.as_json else to_markdown(report)
        self._screen.rest()
        if self._options.out is not None:
            await asyncio.to_thread(self._options.out.write_text, text, "utf-8")
            self._screen.note(f"Written to {self._options.out}", "green")
        else:
            sys.stdout.write(harmless(text) if sys.stdout.isatty() else text)
            sys.stdout.flush()
        return 0

    def _left(self, run: Run, why: str, code: int) -> int:
        self._screen.note(why, "red" if code == 1 else "yellow")
        self._screen.note(f"Go on with: python -m app ask --resume {run.thread_id}")
        return code


def _default_answer(asked: Interrupt) -> dict[str, str]:
    if asked.kind == "clarify":
        return {"text": "Decide for yourself what is meant, and say so in the report."}
    return {"action": "approve"}
