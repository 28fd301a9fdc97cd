"""The whole service without its HTTP side, and a question for it; for tests and benchmarks."""

import asyncio
from typing import Any, Final

from app.root import Service

QUESTION: Final = "How does a cancel reach a run on another worker?"
ASK: Final[dict[str, Any]] = {
    "language": "en",
    "depth": "quick",
    "review_plan": False,
    "clarify": False,
    "web": False,
    "documents": True,
    "allow_domains": [],
    "deny_domains": [],
    "max_tokens": None,
    "max_seconds": None,
}


async def indexed(service: Service) -> None:
    """Returns once the project's own documents can be searched."""
    async with asyncio.timeout(60):
        while True:
            coverage = await service.library.coverage(owner="local")
            if coverage.indexed and not coverage.pending:
                return
            await asyncio.sleep(0.05)
