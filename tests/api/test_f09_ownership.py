"""Case F09: what belongs to another is not there, on every route, in every place of a request."""

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.reading import UNKNOWN, finished, follow, is_problem, names, state, waiting
from tests.api.running import Running

QUESTION = "How much honey does a colony of bees need for the winter?"
REPORT = ("json", "md", "html", "docx")
GOOD: dict[str, dict[str, Any]] = {
    "cancel": {"mode": "stop"},
    "resume": {},
    "answer": {"interrupt_id": "x", "value": {"action": "approve"}},
    "modify": {"message": "Shorter, please"},
}


@pytest.fixture(scope="module")
async def ann(keyed: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with keyed.client("ann-secret") as made:
        yield made


@pytest.fixture(scope="module")
async def bob(keyed: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with keyed.client("bob-secret") as made:
        yield made


@pytest.fixture(scope="module")
async def hers(ann: httpx.AsyncClient) -> dict[str, str]:
    """Ann's threads: one that waits, one with a report; and an interrupt of the first."""
    thread = await waiting(ann, QUESTION)
    seen = await state(ann, thread)
    return {
        "waiting": thread,
        "run": seen["run"]["run_id"],
        "interrupt": seen["interrupts"][0]["id"],
        "finished": await finished(ann, QUESTION),
    }


def _calls(thread: str, interrupt: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Every route that takes a thread, with a body that would be right for its owner."""
    base = f"/api/threads/{thread}"
    gets = ["", "/state", "/events", "/events?after=0-0", "/timeline", "/sources/1"]
    gets += [f"/report?format={name}" for name in REPORT]
    answer = {**GOOD["answer"], "interrupt_id": interrupt}
    posts = {**GOOD, "answer": answer}
    return [
        *(("GET", base + part, None) for part in gets),
        *(("POST", f"{base}/{name}", body) for name, body in posts.items()),
        ("DELETE", base, None),
    ]


async def test_f09_the_matrix_knows_every_route(keyed: Running) -> None:
    """A route that is added must be added here."""
    async with keyed.client("root-secret") as root:
        paths: dict[str, Any] = (await root.get("/openapi.json")).json()["paths"]
    found = {
        (method.upper(), path)
        for path, methods in paths.items()
        for method in methods
        if "{thread_id}" in path
    }
    called = {
        (method, re.sub("/sources/1$", "/sources/{n}", path.partition("?")[0]))
        for method, path, _ in _calls("{thread_id}", "x")
    }
    assert found == called


@pytest.mark.parametrize("which", ["waiting", "finished"])
async def test_f09_foreign_threads_look_unknown_on_every_route(
    ann: httpx.AsyncClient, bob: httpx.AsyncClient, hers: dict[str, str], which: str
) -> None:
    before = await state(ann, hers[which])
    foreign = _calls(hers[which], hers["interrupt"])
    unknown = _calls(UNKNOWN, hers["interrupt"])
    for (method, path, body), (_, nowhere, _) in zip(foreign, unknown, strict=True):
        for headers in ({}, {"Last-Event-ID": before["cursor"]}, {"Accept": "text/event-stream"}):
            response = await bob.request(method, path, json=body, headers=headers)
            is_problem(response, 404, "not-found")
            other = await bob.request(method, nowhere, json=body, headers=headers)
            assert (other.status_code, other.content) == (404, response.content)
    after = await state(ann, hers[which])
    assert after == before


async def test_f09_a_foreign_run_or_interrupt_under_an_own_thread_is_not_found(
    ann: httpx.AsyncClient, bob: httpx.AsyncClient, hers: dict[str, str]
) -> None:
    own = await waiting(bob, QUESTION)
    runs = await bob.get(f"/api/threads/{own}/runs/{hers['run']}")
    is_problem(runs, 404, "not-found")
    is_problem(await bob.get(f"/api/threads/{hers['run']}/state"), 404, "not-found")
    body = {"interrupt_id": hers["interrupt"], "value": {"action": "approve"}}
    answer = await bob.post(f"/api/threads/{own}/answer", json=body)
    is_problem(answer, 409, "unknown-interrupt")
    assert (await state(bob, own))["status"] == "waiting"
    assert (await state(ann, hers["waiting"]))["status"] == "waiting"


async def test_f09_ids_in_a_body_or_a_query_open_nothing(
    bob: httpx.AsyncClient, hers: dict[str, str]
) -> None:
    for name in ("thread_id", "run_id", "owner"):
        body = {"question": QUESTION, name: hers["waiting"]}
        is_problem(await bob.post("/api/threads", json=body), 422, "validation")
    page = await bob.get("/api/threads", params={"after": hers["waiting"], "owner": "ann"})
    assert hers["waiting"] not in page.text
    seen = await bob.get("/api/threads", params={"q": "honey", "limit": 100})
    assert hers["finished"] not in seen.text


async def test_f09_a_key_of_another_user_is_another_key(
    ann: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    body = {"question": QUESTION, "clarify": False}
    headers = {"Idempotency-Key": "shared by chance"}
    first = (await ann.post("/api/threads", json=body, headers=headers)).json()
    second = (await bob.post("/api/threads", json=body, headers=headers)).json()
    assert first["thread_id"] != second["thread_id"]


async def test_f09_an_admin_reads_the_runtime_but_nobodys_threads(
    keyed: Running, bob: httpx.AsyncClient, hers: dict[str, str]
) -> None:
    async with keyed.client("root-secret") as root:
        assert "workers" in (await root.get("/api/runtime")).json()
        assert "research_runs" in (await root.get("/metrics")).text
        is_problem(await root.get(f"/api/threads/{hers['waiting']}"), 404, "not-found")
    assert "workers" not in (await bob.get("/api/runtime")).json()
    is_problem(await bob.get("/metrics"), 403, "forbidden")


@pytest.mark.parametrize("key", [None, "wrong", "ann", "ann:ann-secret:default"])
async def test_f09_without_a_valid_key_nothing_is_told(
    keyed: Running, hers: dict[str, str], key: str | None
) -> None:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with keyed.client() as nobody:
        for method, path, body in _calls(hers["waiting"], hers["interrupt"]):
            response = await nobody.request(method, path, json=body, headers=headers)
            is_problem(response, 401, "unauthorized")
            assert response.headers["www-authenticate"].startswith("Bearer")
        for path in ("/api/threads", "/api/documents", "/api/runtime", "/metrics", "/api/nothing"):
            is_problem(await nobody.get(path, headers=headers), 401, "unauthorized")
        for path in ("/healthz", "/readyz", "/openapi.json"):
            assert (await nobody.get(path, headers=headers)).status_code == 200


async def test_f09_the_owner_still_has_it_all(ann: httpx.AsyncClient, hers: dict[str, str]) -> None:
    events = await follow(ann, hers["finished"], after="0-0")
    assert names(events)[-1] == "run.succeeded"
    report = await ann.get(f"/api/threads/{hers['finished']}/report")
    assert report.status_code == 200
