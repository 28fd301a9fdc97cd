"""Typed answers: the rungs of the ladder, and what the endpoint is remembered to take."""

from collections.abc import Callable
from typing import Any

import pytest

from graph.ports import ModelFailed
from graph.reasoners.schemas import PLAN
from tests.providers.conftest import Call
from tests.simulator import Simulator

Make = Callable[..., Call]
USER = "<question>How does a cancel reach a run?</question>"


@pytest.fixture(autouse=True)
def _counted_anew(simulator: Simulator) -> None:
    simulator.reset()


async def asked(call: Call) -> Any:
    return await call.chat.structured("Plan.", USER, PLAN, node="plan")


@pytest.mark.parametrize("script", ["", "-textjson", "-badjson", "-nousage"])
async def test_the_native_schema_gives_an_instance(
    call: Make, simulator: Simulator, script: str
) -> None:
    made = call("sim-0x30" + script)
    plan = await asked(made)
    assert plan["steps"][0]["title"]
    (body,) = simulator.stats().requests
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["additionalProperties"] is False
    assert "maxItems" not in schema["properties"]["steps"]
    assert len(made.usage) == 1


async def test_what_the_endpoint_refuses_is_asked_once(call: Make, simulator: Simulator) -> None:
    made = call("sim-0x30-noschema")
    assert await asked(made) is None  # filler words are no JSON
    assert simulator.stats().started == 3
    assert await asked(made) is None
    assert simulator.stats().started == 4
    assert "response_format" not in simulator.stats().requests[-1]


@pytest.mark.parametrize("script", ["-empty", "-filter"])
async def test_an_answer_of_nothing_is_none_and_not_asked_for_again(
    call: Make, simulator: Simulator, script: str
) -> None:
    made = call("sim-0x30" + script)
    assert await asked(made) is None
    assert simulator.stats().started == 1
    assert len(made.usage) == 1


@pytest.mark.parametrize(
    ("script", "problem"),
    [("-quota", "model-quota"), ("-400", "model-refused"), ("-500", "model-down")],
)
async def test_a_model_that_cannot_be_asked_is_a_failure(
    call: Make, script: str, problem: str
) -> None:
    with pytest.raises(ModelFailed) as failure:
        await asked(call("sim-0x30" + script))
    assert failure.value.problem["type"] == f"/problems/{problem}"


async def test_a_failure_that_passes_is_tried_again(call: Make) -> None:
    made = call("sim-0x30-500@1")
    assert (await asked(made))["steps"]
    assert [retry[1] for retry in made.retries] == [2]
