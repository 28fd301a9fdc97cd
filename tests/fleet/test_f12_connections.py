"""F12: an open stream holds no database connection, however many there are."""

import asyncio
import time
from contextlib import AsyncExitStack

from tests.api.reading import start, state, stream
from tests.fleet.acts import QUESTION, begun, cancelled
from tests.fleet.fleet import POOL, Fleet
from tests.fleet.quiet import query

# Beside the pool: what the indexer and this question itself use.
OTHERS = 2


async def test_f12_streams_hold_no_connection(fleet: Fleet) -> None:
    async with AsyncExitStack() as stack:
        a = await stack.enter_async_context(fleet[0].client())
        b = await stack.enter_async_context(fleet[1].client())
        threads = [await begun(a) for _ in range(3)]
        for place in range(25):
            for client in (a, b):
                response = await stack.enter_async_context(stream(client, threads[place % 3]))
                assert response.status_code == 200
        for client in (a, b):
            began = time.monotonic()
            await state(client, threads[0])
            assert time.monotonic() - began < 1
            began = time.monotonic()
            threads.append(await start(client, QUESTION))
            assert time.monotonic() - began < 1
        rows = await query(
            fleet,
            """
            SELECT state, state_change < now() - interval '1 s' AS old FROM pg_stat_activity
            WHERE datname = current_database()
            """,
        )
        assert len(rows) <= 2 * (POOL + OTHERS), rows
        assert not [row for row in rows if row["old"] and "in transaction" in str(row["state"])]
        await asyncio.gather(*(cancelled(a, thread_id) for thread_id in threads))
