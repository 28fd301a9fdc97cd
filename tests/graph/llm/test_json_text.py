import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.reasoners.json_text import instance_of
from graph.reasoners.schemas import ANALYSIS, INTENT, PLAN

STEP = '{"title": "One", "intent": "i", "queries": ["q"]}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"steps": [{STEP}]}}',
        f'Here it is:\n```json\n{{"steps": [{STEP}]}}\n```\nHope it helps.',
        f'Sure! {{"steps": [{STEP}]}} Anything else?',
        f'<think>{{"steps": []}}</think>{{"steps": [{STEP}]}}',
        f'thinking...</think>\n{{"steps": [{STEP}]}}',
        "{'steps': [{'title': 'One', 'intent': 'i', 'queries': ['q'],},]}",
        f'{{"steps": [{STEP}, {{"title": "Tw',
        f'{{"steps": {STEP}}}',  # one item instead of a list
        f'{{"steps": ["no step", {STEP}, 7]}}',
    ],
)
def test_an_instance_is_found_in_all_that_models_wrap_it_in(text: str) -> None:
    plan = instance_of(text, PLAN)
    assert plan is not None
    assert plan["steps"][0]["title"] == "One"


@pytest.mark.parametrize(
    "text",
    ["", "no json at all", "[]", "null", '{"steps": []}', '{"other": 1}', "{", "NaN", "1e999"],
)
def test_what_does_not_fit_is_none(text: str) -> None:
    assert instance_of(text, PLAN) is None


def test_lists_and_texts_are_clipped_and_strings_scrubbed() -> None:
    step = {"title": "x" * 500, "queries": ["a\ud800b"] * 9, "more": 1}
    text = json.dumps({"steps": [step] * 9})
    plan = instance_of(text, PLAN)
    assert plan is not None
    assert len(plan["steps"]) == 6
    assert set(plan["steps"][0]) == {"title", "queries"}
    assert len(plan["steps"][0]["title"]) == 160
    assert plan["steps"][0]["queries"] == ["a\ufffdb"] * 4


def test_ids_may_come_as_numbers_or_words() -> None:
    answer = instance_of('{"findings": [{"text": "t", "sources": [3, "S4", "[S5]"]}]}', ANALYSIS)
    assert answer is not None
    assert answer["findings"][0]["sources"] == ["3", "S4", "[S5]"]


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(
                st.sampled_from(["steps", "title", "queries", "intent", "clarify", "x"]), inner
            ),
        ),
        max_leaves=12,
    )
)
def test_any_value_gives_an_instance_or_none(value: Any) -> None:
    for schema in (PLAN, INTENT, ANALYSIS):
        found = instance_of(json.dumps(value), schema)
        assert found is None or set(schema["required"]) <= set(found)
