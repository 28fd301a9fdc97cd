"""The model simulator keeps the promises that other tests build on."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.simulator import Simulator

STEP = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "intent": {"type": "string"},
        "queries": {"type": "array", "items": {"type": "string"}},
    },
}
PROMPT = """Question: How does a cancel reach a run on another worker?

[S3] from “How a cancel travels.md”
The owner reads the intent when it renews its lease. It stops the task then.
[S7] A hint on the channel wakes the owner within milliseconds.
"""


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as running:
        yield running


async def ask(simulator: Simulator, model: str, prompt: str, **more: Any) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], **more}
    async with httpx.AsyncClient(timeout=10) as client:
        return await client.post(f"{simulator.url}/chat/completions", json=body)


async def built(simulator: Simulator, schema: dict[str, Any], model: str = "sim-0x50") -> Any:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    answer = await ask(simulator, model, PROMPT, response_format=wanted)
    return json.loads(answer.json()["choices"][0]["message"]["content"])


async def test_text_quotes_the_evidence_with_its_id(simulator: Simulator) -> None:
    answer = await ask(simulator, "sim-0x60", PROMPT)
    text = answer.json()["choices"][0]["message"]["content"]
    assert "The owner reads the intent when it renews its lease [S3]." in text
    assert "A hint on the channel wakes the owner within milliseconds [S7]." in text


async def test_queries_are_made_of_the_words_of_the_question(simulator: Simulator) -> None:
    schema = {"type": "object", "properties": {"steps": {"type": "array", "items": STEP}}}
    plan = await built(simulator, schema)
    assert plan["steps"][0]["queries"] == ["cancel reach run another worker", "run another worker"]
    assert plan["steps"][0]["title"] != plan["steps"][1]["title"]


async def test_findings_quote_the_evidence_and_name_its_source(simulator: Simulator) -> None:
    finding = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "sources": {"type": "array", "items": {"type": "integer"}},
        },
    }
    schema = {
        "type": "object",
        "properties": {
            "findings": {"type": "array", "items": finding},
            "open_questions": {"type": "array", "items": {"type": "string"}},
            "clarify": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    }
    analysis = await built(simulator, schema)
    assert analysis["findings"][0] == {
        "text": "The owner reads the intent when it renews its lease.",
        "sources": [3],
    }
    assert (analysis["open_questions"], analysis["clarify"]) == ([], None)
    eager = await built(simulator, schema, "sim-0x50-open-clarify")
    assert len(eager["open_questions"]) == 1
    assert "cancel" in eager["clarify"]


async def test_a_reader_who_leaves_is_counted_as_aborted(simulator: Simulator) -> None:
    simulator.reset()
    body = {"model": "sim-5x400", "messages": [], "stream": True}
    async with (
        httpx.AsyncClient(timeout=10) as client,
        client.stream("POST", f"{simulator.url}/chat/completions", json=body) as answer,
    ):
        lines = answer.aiter_lines()
        await anext(lines)
        await simulator.until(lambda stats: stats.open == 1)
    stats = await simulator.until(lambda stats: stats.aborted == 1)
    assert (stats.open, stats.started, stats.finished) == (0, 1, 0)


async def test_a_fault_hits_the_named_call_alone(simulator: Simulator) -> None:
    simulator.reset()
    statuses = [(await ask(simulator, "sim-0x5-429@2", "Hello?")).status_code for _ in range(3)]
    assert statuses == [200, 429, 200]


async def test_a_stream_ends_with_usage_and_done(simulator: Simulator) -> None:
    more = {"stream": True, "stream_options": {"include_usage": True}}
    lines = (await ask(simulator, "sim-0x20", "Hello?", **more)).text.split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert lines[-2] == "data: [DONE]"
    assert events[-1]["usage"]["completion_tokens"] == 20
    assert sum(1 for e in events if e["choices"] and e["choices"][0]["delta"].get("content")) == 20
