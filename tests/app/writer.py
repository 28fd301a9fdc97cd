"""A process that writes checkpoints of a thread without a pause, until it is fenced out.

One line `THREAD EPOCH` in; it says `writing` at its first write, `lost` at the fence, and
`failed REASON` at anything else. The parent stops and continues it as it likes.
"""

import asyncio
import sys
from uuid import UUID

from langgraph.checkpoint.base import empty_checkpoint

from app.saver import RunSaver
from registry.database import Database
from registry.errors import LeaseLost

BLOB = "x" * 20_000  # several messages to the server, not one


async def write(saver: RunSaver, thread_id: UUID, *, told: bool = True) -> None:
    """One checkpoint after the other, each with rows in all three tables."""
    parent: str | None = None
    for number in range(1_000_000):
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"big": [BLOB, number], "more": [number]}
        checkpoint["channel_versions"] = {"big": f"{number}.z", "more": f"{number}.z"}
        held = await saver.aput(
            {
                "configurable": {
                    "thread_id": str(thread_id),
                    "checkpoint_ns": "",
                    "checkpoint_id": parent,
                }
            },
            checkpoint,
            {"source": "loop", "step": number, "parents": {}},
            checkpoint["channel_versions"],
        )
        await saver.aput_writes(held, [("more", [number]), ("big", [BLOB])], "task")
        parent = checkpoint["id"]
        if not told:
            print("writing", flush=True)
            told = True


async def main(url: str) -> None:
    database = Database(url, size=2)
    await database.open()
    loop = asyncio.get_running_loop()
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        thread_id, epoch = UUID(line.split()[0]), int(line.split()[1])
        try:
            await write(RunSaver(database, (thread_id, epoch)), thread_id, told=False)
        except LeaseLost:
            print("lost", flush=True)
        except Exception as error:
            print(f"failed {error!r}", flush=True)
            raise
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
