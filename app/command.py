"""The command line: serve, fleet, migrate, ask. Every error is one line on stderr.

Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 130 stopped.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
import uvloop
from pydantic import ValidationError

from app.api.errors import describe_validation
from app.api.problems import problem_of
from app.api.schemas import Start
from app.ask import STOPPED, AskOptions, ask
from app.fleet import fleet
from app.logs import configure_logs
from app.root import open_service
from app.server import serve
from app.settings import Settings, load_settings
from registry.errors import RegistryError, StartRefused

WRONG = 2

log = structlog.get_logger()


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        settings = load_settings()
    except StartRefused as error:
        return _say(str(error), WRONG)
    if options.command == "ask":
        chosen = _ask_options(options)
        if isinstance(chosen, str):
            return _say(chosen, WRONG)
        configure_logs("error")  # the terminal is the person's
        return _run(ask(settings, chosen))
    configure_logs(settings.log_level)
    work = {"serve": _serve, "fleet": _fleet, "migrate": _migrate}[options.command]
    return _run(work(settings))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app", description="The research service.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("serve", help="run the service on HOST and PORT")
    commands.add_parser("fleet", help="Postgres, Redis and WORKERS workers on this machine")
    commands.add_parser("migrate", help="bring the database up to date")
    one = commands.add_parser("ask", help="research one question in this terminal")
    one.add_argument("question", nargs="?", help="what to find out")
    one.add_argument("--resume", "--thread", metavar="THREAD", help="go on with this thread")
    one.add_argument("--out", metavar="FILE", type=Path, help="write the report there")
    one.add_argument("--json", action="store_true", help="the report as JSON, not Markdown")
    one.add_argument(
        *("--yes", "--no-review"), action="store_true", help="approve the plan without asking"
    )
    one.add_argument("--depth", choices=("quick", "standard", "deep"), default="standard")
    one.add_argument("--language", default="auto", help="such as en or zh; default: the question's")
    return parser


def _ask_options(options: argparse.Namespace) -> AskOptions | str:
    """What `ask` needs, or one line that says what is wrong with the arguments."""
    if (options.question is None) == (options.resume is None):
        return "ask: give a question, or --resume THREAD to go on with one"
    start, thread = None, None
    review = not options.yes
    if options.resume is not None:
        try:
            thread = UUID(options.resume)
        except ValueError:
            return f"--resume: {options.resume!r} is not the id of a thread"
    else:
        ask_back = review and sys.stdin.isatty() and sys.stderr.isatty()
        try:
            start = Start(
                question=options.question.encode("utf-8", "replace").decode(),
                depth=options.depth,
                language=options.language,
                review_plan=ask_back,
                clarify=ask_back,
            )
        except ValidationError as error:
            return f"ask: {describe_validation(error.errors()).detail}"
    out: Path | None = options.out
    if out is not None and (out.is_dir() or not os.access(out.parent, os.W_OK)):
        return f"--out: {out} cannot be written; name a file in a folder that exists"
    return AskOptions(start, thread, out, options.json, review)


async def _serve(settings: Settings) -> int:
    await serve(settings, lambda address: _tell(f"Ready on {address}"))
    return 0


async def _fleet(settings: Settings) -> int:
    await fleet(settings, _tell)
    return 0


async def _migrate(settings: Settings) -> int:
    async with open_service(settings, serve=False):
        _tell("The database is up to date.")
    return 0


def _run(work: Coroutine[Any, Any, int]) -> int:
    """The outermost edge: whatever comes out of it is one line and an exit code."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _say("Stopped before it was done.", STOPPED)
    except BaseExceptionGroup as group:
        return _failed(_first(group))
    except Exception as error:  # noqa: BLE001 - the outermost edge
        return _failed(error)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _failed(error: BaseException) -> int:
    if isinstance(error, StartRefused):
        return _say(str(error), 1)
    if isinstance(error, RegistryError):
        return _say(problem_of(error).detail, 1)
    log.error("process_failed", exc_info=error)
    return _say(f"Unexpected error: {type(error).__name__}; the log above says more.", 1)


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _say(text: str, code: int) -> int:
    sys.stderr.write(" ".join(text.split()) + "\n")
    return code
