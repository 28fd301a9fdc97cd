"""Readers who leave and return rebuild exactly what a reader who stayed has."""

import asyncio

from tests.api.reading import approve, start, state
from tests.api.running import Running
from tests.reader import Reader, wait_for
from tests.simulator import Simulator

QUESTION = "How does a cancel reach a run on another worker?"


async def test_fifty_drops_through_a_stop_a_resume_and_a_late_modify(database_url: str) -> None:
    with Simulator() as simulator:
        model = {"OPENAI_BASE_URL": simulator.url, "MODEL": "sim-100x60"}
        with Running(database_url, model) as server:
            server.indexed()
            async with server.client() as client:
                thread_id = await start(client, QUESTION)
                await wait_for(client, thread_id, "waiting")
                await approve(client, thread_id)
                stayed = Reader(client, thread_id)
                dropped = Reader(client, thread_id, chance=0.25, seed=3)
                crowd = [Reader(client, thread_id) for _ in range(8)]
                calls = simulator.stats().started

                async with asyncio.TaskGroup() as group:
                    for reader in (stayed, dropped, *crowd):
                        group.create_task(reader.until_end())
                    await stayed.until_seen("section")
                    await stayed.until_seen("section.started")
                    address = f"/api/threads/{thread_id}"
                    stopped = await client.post(f"{address}/cancel", json={"wait": True})
                    assert stopped.status_code == 200, stopped.text
                for reader in crowd:
                    assert (reader.text, reader.ids) == (stayed.text, stayed.ids)
                assert (await state(client, thread_id))["status"] == "cancelled"

                resumed = await client.post(f"{address}/resume", json={})
                assert resumed.status_code == 202, resumed.text
                async with asyncio.TaskGroup() as group:
                    group.create_task(stayed.until_end())
                    group.create_task(dropped.until_end())
                    await stayed.until_seen("verdict")  # in the last nodes
                    wish = {"message": "What do leases have to do with it?"}
                    late = await client.post(f"{address}/modify", json=wish)
                    assert late.status_code == 202, late.text
                await wait_for(client, thread_id, "succeeded")
                for reader in (stayed, dropped):
                    await reader.until_end()

                assert dropped.visits >= 50, dropped.visits
                assert "gap" not in stayed.names + dropped.names
                assert dropped.ids == stayed.ids
                assert dropped.text == stayed.text
                report = (await client.get(f"{address}/report?format=json")).json()
                told = [section["markdown"] for section in report["sections"]]
                assert stayed.text.of(report["version"]) == told
                # Ten readers cost one run: the model was called for the run alone.
                assert simulator.stats().started - calls < 40
                now = await state(client, thread_id)
                assert [item["status"] for item in now["values"]["requirements"]] == ["applied"]
