"""kill -9 in the middle of writing: the run goes on by itself, and nothing is paid twice."""

import asyncio
import signal

from tests.api.reading import start
from tests.api.running import Running
from tests.reader import Reader, wait_for
from tests.simulator import Simulator

QUESTION = "How does a cancel reach a run on another worker?"


async def test_a_killed_server_goes_on_at_the_section_it_was_writing(database_url: str) -> None:
    with Simulator() as simulator:
        model = {"OPENAI_BASE_URL": simulator.url, "MODEL": "sim-40x60"}
        with Running(database_url, model) as server:
            server.indexed()
            async with server.client() as client:
                thread_id = await start(client, QUESTION, review_plan=False)
                reader = Reader(client, thread_id)
                async with asyncio.TaskGroup() as group:
                    reading = group.create_task(reader.until_end())
                    while reader.names.count("section.started") < 3:
                        await asyncio.sleep(0.005)
                    reading.cancel()
            written = dict(reader.text.sections)
            assert len(written) >= 2
            server.stop(signal.SIGKILL)
            before = await simulator.until(lambda s: s.open == 0)
            server.restart()

            async with server.client() as client:
                after = Reader(client, thread_id, cursor=reader.cursor)
                await after.until_end()
                now = await wait_for(client, thread_id, "succeeded")
                assert now["run"]["attempt"] == 2
                # The reader's cursor is of events that died with the process: an honest gap.
                assert after.names[0] == "gap"
                assert after.names.count("gap") == 1
                total = len(now["values"]["sections"])
                for key, markdown in written.items():
                    assert after.text.sections.get(key, markdown) == markdown
                # One call for each section that was not finished, none for what was.
                calls = simulator.stats().started - before.started
                assert calls <= total - len(written), (calls, total, len(written))
                assert after.names.count("section.started") <= total - len(written)
