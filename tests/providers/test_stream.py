"""Streaming from the simulator over a real socket, fault by fault."""

from collections.abc import Callable

import pytest

from tests.providers.conftest import Call
from tests.simulator import Simulator

Make = Callable[..., Call]


@pytest.fixture(autouse=True)
def _counted_anew(simulator: Simulator) -> None:
    simulator.reset()


async def test_text_streams_and_usage_is_the_endpoints_own(call: Make) -> None:
    made = call("sim-200x60")
    assert await made.run() is None
    assert len(made.pieces) > 10  # as they come, not at the end
    assert made.text.startswith("open models are improving quickly")
    assert [(u.output_tokens, u.estimated) for u in made.usage] == [(60, False)]


@pytest.mark.parametrize(
    ("script", "problem", "tries"),
    [
        ("-429w", "model-limit", 1),
        ("-quota", "model-quota", 1),
        ("-500", "model-down", 3),
        ("-400", "model-refused", 1),
    ],
)
async def test_a_refused_call_fails_with_its_reason(
    call: Make, simulator: Simulator, script: str, problem: str, tries: int
) -> None:
    made = call("sim-0x30" + script)
    assert await made.run() == problem
    assert (made.text, made.usage) == ("", [])
    assert simulator.stats().started == tries
    assert len(made.retries) == tries - 1


@pytest.mark.parametrize(("script", "wait"), [("-500@1", 0.25), ("-429@1", 2.0)])
async def test_a_call_refused_once_is_tried_again_as_soon_as_asked(
    call: Make, script: str, wait: float
) -> None:
    made = call("sim-0x30" + script)
    assert await made.run() is None
    assert [(node, number, after) for node, number, after, _ in made.retries] == [
        ("write", 2, wait)
    ]
    assert len(made.usage) == 1


@pytest.mark.parametrize("script", ["-stall", "-comments"])
async def test_a_silent_model_is_left_after_the_idle_limit(
    call: Make, simulator: Simulator, script: str
) -> None:
    made = call("sim-0x30" + script, idle=0.2)
    assert await made.run() == "model-silent"
    assert made.text.startswith("open models")
    assert made.usage[0].estimated
    await simulator.until(lambda stats: stats.aborted == 1, 0.5)


async def test_a_slow_model_that_speaks_within_the_limit_is_not_left(call: Make) -> None:
    made = call("sim-8x6", idle=0.3)
    assert await made.run() is None
    assert len(made.text.split()) == 6


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("-cut", "model-cut"),
        ("-error", "model-error"),
        ("-nofinish", "model-cut"),
        ("-length", "model-length"),
        ("-filter", "model-filtered"),
    ],
)
async def test_an_answer_that_ends_badly_is_a_failure_after_its_text(
    call: Make, script: str, problem: str
) -> None:
    made = call("sim-0x30" + script)
    assert await made.run() == problem
    assert made.text.startswith("open models")
    assert len(made.usage) == 1
    assert made.usage[0].output_tokens > 5


async def test_an_empty_answer_is_a_failure(call: Make) -> None:
    made = call("sim-0x30-empty")
    assert await made.run() == "model-empty"


async def test_usage_is_the_same_however_it_is_reported(call: Make) -> None:
    counts = []
    for script in ("", "-usageall"):
        made = call("sim-0x40" + script)
        await made.run()
        counts += made.usage
    assert counts[0] == counts[1]
    estimated = call("sim-0x40-nousage")
    await estimated.run()
    assert estimated.usage[0].estimated
    assert estimated.usage[0].output_tokens == len(estimated.text) // 4


async def test_thoughts_and_what_may_not_travel_never_leave(call: Make) -> None:
    made = call("sim-0x30-think-nul")
    assert await made.run() is None
    assert "private" not in made.text
    assert made.text.startswith("a\ufffdb\u2028c\ufffdd\re open")
    made.text.encode()


async def test_usage_is_asked_for_and_the_request_is_clean(
    call: Make, simulator: Simulator
) -> None:
    made = call("sim-0x5")
    await made.run("A \ud83d lone half, a pair \ud83d\ude00, a NUL \x00.")
    (body,) = simulator.stats().requests
    assert body["stream_options"] == {"include_usage": True}
    assert body["messages"][1]["content"] == "A \ufffd lone half, a pair \U0001f600, a NUL \ufffd."


async def test_no_endpoint_is_said_in_one_line(call: Make) -> None:
    made = call("any", base_url="http://127.0.0.1:9/v1")
    assert await made.run() == "model-unreachable"
    assert len(made.retries) == 2
