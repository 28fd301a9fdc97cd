"""Logs: structlog for us, the standard library's through the same pipe, on stderr.

One line of JSON per event, or a coloured line where stderr is a terminal. Event names are
constant snake_case; what a run's lines belong to (run_id, thread_id, worker_id, attempt) is
bound by context variables. Never in a log: keys, tokens of a model, what a person typed.
"""

import logging
import sys
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

# Their lower levels hold addresses, requests and frames: other people's words.
QUIET: Final = (
    *(
        "asyncio",
        "aiohttp",
        "httpcore",
        "httpx",
        "httpx2",
        "langchain",
        "langgraph",
        "langsmith",
        "openai",
    ),
    *("psycopg", "psycopg.pool", "sse_starlette", "urllib3", "uvicorn", "markdown_it"),
)


def configure_logs(level: str = "info", *, stream: TextIO | None = None) -> None:
    """Sets up all logging of the process; again replaces what was set up before."""
    out = stream if stream is not None else sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(number),
        cache_logger_on_first_use=False,
    )
    rendering: list[Processor]
    if out.isatty():
        # The plain traceback: the pretty one prints local variables.
        plain = structlog.dev.plain_traceback
        rendering = [structlog.dev.ConsoleRenderer(exception_formatter=plain, timestamp_key="ts")]
    else:
        rendering = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, _foreign],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    for name in QUIET:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(max(number, logging.WARNING))


def _foreign(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A library's line: its text is a message, and the event's name stays constant."""
    record = event.get("_record")
    event["message"] = event.get("event")
    event["event"] = "library_log"
    if isinstance(record, logging.LogRecord):
        event["logger"] = record.name
    return event
