"""The main job over HTTP: ask, follow, review, read, follow up, delete."""

import asyncio
from uuid import UUID

import httpx

from tests.api.reading import (
    approve,
    events_in,
    finished,
    follow,
    is_problem,
    names,
    start,
    state,
    waiting,
)
from tests.api.running import Running

QUESTION = "How much honey does a colony of bees need for the winter?"


async def test_from_a_question_to_a_cited_report(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/threads", json={"question": QUESTION, "clarify": False})
    assert response.status_code == 202
    made = response.json()
    thread = made["thread_id"]
    assert UUID(thread).version == 7
    assert made["events_url"] == f"/api/threads/{thread}/events" == response.headers["location"]
    assert made["status"] in ("running", "pending")

    events = await follow(client, thread)
    assert names(events)[0] == "run.started"
    assert names(events)[-2:] == ["interrupt", "run.waiting"]
    seen = await state(client, thread)
    assert (seen["status"], seen["stopping"], seen["next"]) == ("waiting", False, ["review"])
    interrupt = seen["interrupts"][0]
    assert interrupt["kind"] == "review_plan"
    plan = seen["values"]["plan"]
    assert plan == interrupt["payload"]["steps"]
    assert {e.name: e.data for e in events}["plan"]["steps"] == plan

    steps = [plan[0], {"title": "Feeding in winter", "queries": ["syrup frost honey winter"]}]
    body = {"interrupt_id": interrupt["id"], "value": {"action": "edit", "steps": steps}}
    answer = f"/api/threads/{thread}/answer"
    wrong = {**body, "value": {"action": "edit", "steps": "all"}}
    is_problem(await client.post(answer, json=wrong), 422, "validation")
    unknown = {**body, "interrupt_id": "nope"}
    is_problem(await client.post(answer, json=unknown), 409, "unknown-interrupt")
    assert (await state(client, thread))["status"] == "waiting"
    assert (await client.post(answer, json=body)).status_code == 202
    is_problem(await client.post(answer, json=body), 409, "already-answered")

    events = await follow(client, thread)
    assert names(events)[0] == "run.started"
    assert names(events)[-1] == "run.succeeded"
    assert {"section.started", "token", "section", "report"} <= set(names(events))
    seen = await state(client, thread)
    assert seen["status"] == "succeeded"
    assert [v["version"] for v in seen["values"]["versions"]] == [1]
    assert all(section["version"] == 1 for section in seen["values"]["sections"])
    await _check_reports(client, thread)
    await _check_the_end(client, thread)


async def _check_reports(client: httpx.AsyncClient, thread: str) -> None:
    path = f"/api/threads/{thread}/report"
    report = (await client.get(path, params={"format": "json"})).json()
    assert report["version"] == 1
    assert any(section["citations"] for section in report["sections"])
    for section in report["sections"]:
        assert section["version"] == 1
        for citation in section["citations"]:
            source = (await client.get(f"/api/threads/{thread}/sources/{citation['n']}")).json()
            text = source["text"][citation["start"] : citation["end"]]
            assert text == citation["quote"]
            span = {name: citation[name] for name in ("start", "end", "quote")}
            assert {**span, "version": 1, "section": section["index"]} in source["spans"]
    markdown = await client.get(path)
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert markdown.text.startswith(f"# {report['title']}")
    page = await client.get(path, params={"format": "html"})
    assert page.text.startswith("<!doctype html>")
    assert 'href="#source-1"' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for format_ in ("docx", "pdf", "odt"):
        is_problem(await client.get(path, params={"format": format_}), 422, "validation")
    is_problem(await client.get(path, params={"version": "9"}), 404, "not-found")
    is_problem(await client.get(path, params={"version": "x"}), 422, "validation")
    is_problem(await client.get(f"/api/threads/{thread}/sources/999"), 404, "not-found")


async def _check_the_end(client: httpx.AsyncClient, thread: str) -> None:
    everything = await follow(client, thread, after="0-0")
    ids = [tuple(int(part) for part in event.id.split("-")) for event in everything]
    assert ids == sorted(set(ids))
    last = everything[-1].id
    path = f"/api/threads/{thread}/events"
    for response in (
        await client.get(path, params={"after": last}),
        await client.get(path, headers={"Last-Event-ID": last}),
    ):
        assert (response.status_code, response.content) == (204, b"")
    timeline = (await client.get(f"/api/threads/{thread}/timeline")).json()["events"]
    assert [entry["event"] for entry in timeline][-1] == "run.succeeded"
    durable = {entry["id"] for entry in timeline}
    assert durable <= {event.id for event in everything}
    is_problem(await client.post(f"/api/threads/{thread}/resume"), 409, "nothing-left")


async def test_a_finished_report_is_modified_into_a_second_version(
    client: httpx.AsyncClient,
) -> None:
    thread = await finished(client, QUESTION)
    wish = {"message": "Say more about swarming in May"}
    response = await client.post(f"/api/threads/{thread}/modify", json=wish)
    assert response.status_code == 202
    made = response.json()
    assert made["status"] == "queued"
    assert made["run_id"]
    events = await follow(client, thread)
    assert names(events)[-1] == "run.succeeded"
    seen = await state(client, thread)
    assert [v["version"] for v in seen["values"]["versions"]] == [1, 2]
    wishes = seen["values"]["requirements"]
    assert [(w["id"], w["status"]) for w in wishes] == [(made["requirement_id"], "applied")]
    first = await client.get(f"/api/threads/{thread}/report?format=json&version=1")
    assert first.json()["version"] == 1


async def test_a_post_that_asks_for_events_streams_its_run(client: httpx.AsyncClient) -> None:
    body = {"question": QUESTION, "clarify": False}
    async with client.stream(
        "POST", "/api/threads", json=body, headers={"Accept": "text/event-stream"}
    ) as response:
        assert response.status_code == 200
        where = response.headers["content-location"].split("/")
        assert where[:3] == ["", "api", "threads"]
        assert response.headers["location"] == f"/api/threads/{where[3]}/events"
        events = [event async for event in events_in(response)]
    assert events[0].data["run_id"] == where[-1]
    assert names(events)[-1] == "run.waiting"


async def test_stop_and_resume(client: httpx.AsyncClient) -> None:
    thread = await waiting(client, QUESTION)
    path = f"/api/threads/{thread}"
    is_problem(await client.post(f"{path}/resume"), 409, "answer-needed")
    stopped = await client.post(f"{path}/cancel", json={})
    assert (stopped.status_code, stopped.json()["status"]) == (200, "cancelled")
    again = await client.post(f"{path}/cancel", json={"wait": True})
    assert (again.status_code, again.json()) == (200, stopped.json())
    assert names(await follow(client, thread))[-1] == "run.cancelled"
    resumed = await client.post(f"{path}/resume", json={})
    assert resumed.status_code == 202
    assert names(await follow(client, thread))[-1] == "run.waiting"
    await approve(client, thread)
    assert names(await follow(client, thread))[-1] == "run.succeeded"
    unchanged = await client.post(f"{path}/cancel", json={"mode": "finish"})
    assert (unchanged.status_code, unchanged.json()["status"]) == (200, "succeeded")


async def test_a_repeated_key_is_the_same_start(client: httpx.AsyncClient) -> None:
    body = {"question": QUESTION, "clarify": False}
    headers = {"Idempotency-Key": "the same start"}
    first, second = await asyncio.gather(
        client.post("/api/threads", json=body, headers=headers),
        client.post("/api/threads", json={**body, "depth": "standard"}, headers=headers),
    )
    assert first.status_code == second.status_code == 202
    assert first.json()["run_id"] == second.json()["run_id"]
    other = await client.post("/api/threads", json={**body, "depth": "deep"}, headers=headers)
    is_problem(other, 422, "idempotency-mismatch")


async def test_a_key_caps_the_priority(keyed: Running) -> None:
    for key, given in (("ann-secret", "default"), ("bob-secret", "high")):
        async with keyed.client(key) as caller:
            thread = await start(caller, QUESTION, priority="high")
            assert (await state(caller, thread))["run"]["priority"] == given


async def test_history_is_paged_and_searched(client: httpx.AsyncClient) -> None:
    marks = [f"page{n}" for n in range(3)]
    threads = [await start(client, f"{QUESTION} {mark} 100%_sure") for mark in marks]
    page = (await client.get("/api/threads", params={"q": "100%_sure", "limit": 2})).json()
    assert [item["thread_id"] for item in page["threads"]] == threads[:0:-1]
    rest = await client.get("/api/threads", params={"q": "100%_sure", "after": page["next"]})
    assert [item["thread_id"] for item in rest.json()["threads"]] == threads[:1]
    assert rest.json()["next"] is None
    assert (await client.get("/api/threads", params={"q": "a\x00b"})).json()["threads"] == []
    for bad in ({"limit": "0"}, {"limit": "101"}, {"limit": "x"}, {"after": "x"}):
        is_problem(await client.get("/api/threads", params=bad), 422, "validation")


async def test_a_deleted_thread_is_gone(client: httpx.AsyncClient) -> None:
    thread = await start(client, QUESTION)
    assert (await client.delete(f"/api/threads/{thread}")).status_code == 204
    for path in ("", "/state", "/events", "/report", "/timeline", "/sources/1"):
        is_problem(await client.get(f"/api/threads/{thread}{path}"), 404, "not-found")
    is_problem(await client.delete(f"/api/threads/{thread}"), 404, "not-found")
