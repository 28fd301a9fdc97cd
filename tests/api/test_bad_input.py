"""Whatever is sent: a clear problem, never a 5xx, and nothing is lost."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.reading import UNKNOWN, follow, is_problem, names, state, waiting
from tests.api.running import Running

QUESTION = "Where should a hive stand in a garden?"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": " \n "},
        {"question": "x" * 8001},
        {"question": 5},
        {"question": QUESTION, "extra": 1},
        {"question": QUESTION, "web": False, "documents": False},
        {"question": QUESTION, "review_plan": "yes"},
        [],
        None,
        "question",
    ],
    ids=lambda body: json.dumps(body)[:30],
)
async def test_a_wrong_start_is_422(client: httpx.AsyncClient, body: Any) -> None:
    is_problem(await client.post("/api/threads", json=body), 422, "validation")


@pytest.mark.parametrize("raw", [b"{", b"\xff", b"[" * 100_000, b'{"question": NaN}'])
async def test_a_body_that_is_not_json_is_422(client: httpx.AsyncClient, raw: bytes) -> None:
    is_problem(await client.post("/api/threads", content=raw, headers=JSON), 422, "validation")


@pytest.mark.parametrize(
    ("escaped", "clean"),
    [
        (r"half a pair \ud83d here", "half a pair \ufffd here"),
        (r"a nul \u0000 here", "a nul \ufffd here"),
        (r"a whole pair \ud83d\ude00", "a whole pair \U0001f600"),
        (r"written out \\u0000", "written out \\u0000"),
    ],
)
async def test_f05_f48_characters_nobody_can_store_are_replaced(
    client: httpx.AsyncClient, escaped: str, clean: str
) -> None:
    raw = f'{{"question": "Where should a hive stand? {escaped}", "clarify": false}}'.encode()
    response = await client.post("/api/threads", content=raw, headers=JSON)
    assert response.status_code == 202
    thread = response.json()["thread_id"]
    assert names(await follow(client, thread))[-1] == "run.waiting"
    assert (await state(client, thread))["question"] == f"Where should a hive stand? {clean}"


async def test_another_media_type_is_415(client: httpx.AsyncClient) -> None:
    body = json.dumps({"question": QUESTION})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        headers = {"Content-Type": kind}
        response = await client.post("/api/threads", content=body, headers=headers)
        is_problem(response, 415, "unsupported-type")
    charset = {"Content-Type": "Application/JSON; charset=utf-8"}
    response = await client.post("/api/threads", content=body, headers=charset)
    assert response.status_code == 202


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_over_the_cap_is_413(client: httpx.AsyncClient, declared: bool) -> None:
    raw = b'{"question": "' + b"x" * (1024 * 1024) + b'"}'

    async def chunks() -> AsyncIterator[bytes]:
        for place in range(0, len(raw), 65_536):
            yield raw[place : place + 65_536]

    content = raw if declared else chunks()
    is_problem(await client.post("/api/threads", content=content, headers=JSON), 413, "too-large")


@pytest.mark.parametrize(
    "thread",
    [
        *(UNKNOWN, UNKNOWN.upper(), UNKNOWN.replace("-", ""), "{" + UNKNOWN + "}", "1", "x" * 9000),
        *("%00", "%2e%2e", "%F0%9F%98%80", "..%2f..%2fetc", "null", UNKNOWN + "%0a"),
    ],
)
async def test_unknown_and_malformed_ids_look_the_same(
    client: httpx.AsyncClient, thread: str
) -> None:
    calls = [("GET", part) for part in ("", "/state", "/events", "/report", "/timeline")]
    calls += [("DELETE", ""), ("POST", "/cancel"), ("POST", "/resume"), ("GET", "/sources/1")]
    unknown = await client.get(f"/api/threads/{UNKNOWN}")
    for method, part in calls:
        response = await client.request(method, f"/api/threads/{thread}{part}")
        is_problem(response, 404, "not-found")
        if "%2f" not in thread:
            assert response.json() == unknown.json()


async def test_addresses_and_methods_nobody_serves(client: httpx.AsyncClient) -> None:
    for method, path in (
        *(("GET", "/api"), ("GET", "/api/nothing"), ("POST", f"/api/threads/{UNKNOWN}/ask")),
        *(("GET", "/api/me"), ("GET", "/nothing.txt"), ("GET", "/assets/..%2f..%2fpyproject.toml")),
        *(("GET", "/..%2fpackage.json"), ("GET", "/a%00b"), ("GET", "/" + "x" * 5000)),
        ("GET", "/api/threads/"),
    ):
        is_problem(await client.request(method, path), 404, "not-found")
    for method, path, allow in (
        ("PUT", "/api/threads", {"GET", "POST"}),
        ("DELETE", "/api/runtime", {"GET"}),
    ):
        response = await client.request(method, path)
        is_problem(response, 405, "method-not-allowed")
        assert set(response.headers["allow"].split(", ")) <= allow


@pytest.mark.parametrize("value", ["", "x" * 256, "clé".encode(), "tab\there"])
async def test_a_malformed_idempotency_key_is_422(
    client: httpx.AsyncClient, value: str | bytes
) -> None:
    raw = value if isinstance(value, bytes) else value.encode()
    headers = httpx.Headers([(b"idempotency-key", raw)])
    response = await client.post("/api/threads", json={"question": QUESTION}, headers=headers)
    is_problem(response, 422, "validation")


async def test_two_idempotency_keys_are_422(client: httpx.AsyncClient) -> None:
    headers = httpx.Headers([("idempotency-key", "a"), ("idempotency-key", "a")])
    response = await client.post("/api/threads", json={"question": QUESTION}, headers=headers)
    is_problem(response, 422, "validation")


async def test_a_key_of_255_characters_is_taken(client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "k" * 255}
    response = await client.post("/api/threads", json={"question": QUESTION}, headers=headers)
    assert response.status_code == 202


@pytest.mark.parametrize(
    "value",
    [
        *(None, False, 0, "", "approve", [], {}, {"action": None}, {"action": "approve", "x": 1}),
        *({"action": "edit"}, {"action": "edit", "steps": []}, {"action": "revise"}),
        {"action": "revise", "feedback": 5},
    ],
    ids=json.dumps,
)
async def test_an_answer_of_the_wrong_shape_leaves_the_question_standing(
    client: httpx.AsyncClient, standing: str, value: Any
) -> None:
    before = await state(client, standing)
    body = {"interrupt_id": before["interrupts"][0]["id"], "value": value}
    response = await client.post(f"/api/threads/{standing}/answer", json=body)
    is_problem(response, 422, "validation")
    after = await state(client, standing)
    assert after["interrupts"] == before["interrupts"]
    assert after["status"] == "waiting"


async def test_f35_of_two_answers_at_once_one_is_taken(client: httpx.AsyncClient) -> None:
    thread = await waiting(client, QUESTION)
    interrupt = (await state(client, thread))["interrupts"][0]["id"]
    bodies: list[dict[str, Any]] = [
        {"interrupt_id": interrupt, "value": {"action": "approve"}},
        {"interrupt_id": interrupt, "value": {"action": "revise", "feedback": "Shorter"}},
    ]
    answers = await asyncio.gather(
        *(client.post(f"/api/threads/{thread}/answer", json=body) for body in bodies)
    )
    assert sorted(answer.status_code for answer in answers) == [202, 409]
    refused = next(answer for answer in answers if answer.status_code == 409)
    is_problem(refused, 409, "already-answered")


@pytest.mark.parametrize("after", ["", "x", "1", "-1", "1-", "1-2\nid: 3", "９-1"])
async def test_a_malformed_after_is_422(
    client: httpx.AsyncClient, standing: str, after: str
) -> None:
    response = await client.get(f"/api/threads/{standing}/events", params={"after": after})
    is_problem(response, 422, "validation")


@pytest.mark.parametrize("seen", ["-1", "abc", "", "x" * 10_000, "5%0aevent: end", "5-1%0d"])
async def test_f17_a_malformed_last_event_id_is_ignored(
    client: httpx.AsyncClient, standing: str, seen: str
) -> None:
    events = await follow(client, standing, seen=seen)
    assert names(events)[0] == "run.started"
    assert names(events)[-1] == "run.waiting"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
async def test_a_foreign_host_or_origin_is_403(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    for path in ("/", "/api/threads", "/openapi.json"):
        is_problem(await client.get(path, headers=headers), 403, "forbidden")
    response = await client.post("/api/threads", json={"question": QUESTION}, headers=headers)
    is_problem(response, 403, "forbidden")


async def test_the_own_origin_is_taken(client: httpx.AsyncClient, server: Running) -> None:
    response = await client.get("/api/threads", headers={"Origin": server.url})
    assert response.status_code == 200
    named = {"Host": server.url.removeprefix("http://").replace("127.0.0.1", "localhost")}
    assert (await client.get("/api/threads", headers=named)).status_code == 200


async def test_a_broken_document_is_named_and_stops_nothing(client: httpx.AsyncClient) -> None:
    documents = (await client.get("/api/documents")).json()["documents"]
    by_name = {document["name"]: document for document in documents}
    assert by_name["garden.md"]["status"] == "ready"
    assert by_name["garden.md"]["shared"] is True
    broken = by_name["broken.pdf"]
    assert (broken["status"], broken["passages"]) == ("failed", 0)
    assert broken["reason"]
    assert "\n" not in broken["reason"]
