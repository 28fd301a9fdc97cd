"""WorkerOptions: what a worker is told about itself."""

from dataclasses import dataclass, field
from typing import Final, Literal

from registry.ids import uuid7

SERVE: Final = "serve-"  # worker ids of serving workers start so


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """Times in seconds."""

    slots: int = 64
    lease: float = 30
    scan: float = 30
    max_attempts: int = 3
    recover: Literal["resume", "prompt"] = "resume"
    worker_id: str = field(default_factory=lambda: f"{SERVE}{uuid7()}")
