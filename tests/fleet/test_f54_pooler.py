"""F54: two workers behind pgbouncer in transaction mode, with three server connections."""

import asyncio
import re

import pytest

from app.schema import prepare_schema
from tests.api.reading import start
from tests.api.running import Running, run_app
from tests.pooler import Pooler
from tests.reader import wait_for
from tests.services import databases, redis_server

RUNS = 30
ERRORS = re.compile(
    "Traceback|prepared statement|connection is closed|OperationalError|InternalError|pipeline",
    re.IGNORECASE,
)
QUESTION = "How does a cancel reach a run on another worker?"


@pytest.mark.usefixtures("_template")
async def test_f54_thirty_runs_through_a_transaction_pooler() -> None:
    url = databases().fresh()
    with Pooler(url) as pooler:
        settings = {
            "PG_POOLER": "1",
            "REDIS_URL": redis_server().url,
            "REDIS_PREFIX": "f54:",
            "MAX_RUNS": "64",
        }
        # An empty database: the schema is made through the pooler as well.
        with Running(pooler.url, settings) as a, Running(pooler.url, settings) as b:
            await asyncio.to_thread(a.indexed)
            async with a.client() as here, b.client() as there:
                threads = await asyncio.gather(
                    *(
                        start((here, there)[n % 2], QUESTION, review_plan=False, depth="quick")
                        for n in range(RUNS)
                    )
                )
                for thread in threads:
                    await wait_for(there, thread, "succeeded")
                cancelled = await start(here, QUESTION)
                await wait_for(there, cancelled, "waiting")
                answer = await there.post(f"/api/threads/{cancelled}/cancel", json={"wait": True})
                assert answer.status_code == 200
            for worker in (a, b):
                assert worker.stop() == 0
                found = ERRORS.search(worker.log.read_text())
                assert found is None, worker.log.read_text()[-3000:]
        assert await prepare_schema(pooler.url) == [], "nothing is left to apply"
    databases().drop(url)


@pytest.mark.usefixtures("_template")
def test_a_sole_worker_needs_a_connection_of_its_own() -> None:
    """Its lock lives in a session, which a transaction pooler does not give."""
    done = run_app(
        "serve",
        settings={"DATABASE_URL": "postgresql://u@127.0.0.1:1/x", "PG_POOLER": "1", "PORT": "0"},
    )
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("PG_POOLER: ")
