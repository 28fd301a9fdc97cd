"""The run lifecycle: claimed, executed, followed, cancelled, recovered; for any async job.

    worker   = Worker(database, Logs(...), LocalBus(), body, describe, ...)
    commands = Commands(worker)          # start, answer, resume, modify, cancel, delete
    follower = Follower(logs, ...)       # the events of a thread, from any cursor

`body` is the injected work: `Body = Callable[[Run, Emit], Awaitable[Outcome]]`.
"""

from registry.bus import Bus, LocalBus
from registry.channel import Logs
from registry.commands import Accepted, Commands
from registry.database import Database
from registry.events import Event, EventId
from registry.follow import Follower
from registry.heartbeat import BEAT, with_heartbeat
from registry.idempotency import IdempotencyKey
from registry.options import WorkerOptions
from registry.run import Body, Emit, Interrupt, Outcome, Run, Status, Thread
from registry.tasks import TaskRegistry
from registry.worker import Worker

__all__ = [
    "BEAT",
    "Accepted",
    "Body",
    "Bus",
    "Commands",
    "Database",
    "Emit",
    "Event",
    "EventId",
    "Follower",
    "IdempotencyKey",
    "Interrupt",
    "LocalBus",
    "Logs",
    "Outcome",
    "Run",
    "Status",
    "TaskRegistry",
    "Thread",
    "Worker",
    "WorkerOptions",
    "with_heartbeat",
]
