"""Answers are checked before they are stored; what the graph cannot use is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.answers import MAX_STEPS, validate_answer
from graph.errors import AnswerInvalid

STEPS = [
    {"id": "s1", "title": "One", "intent": "i1", "queries": ["q1", "q2"], "status": "planned"},
    {"id": "s2", "title": "Two", "intent": "i2", "queries": ["q3"], "status": "planned"},
]
PLAN: dict[str, Any] = {"steps": STEPS}


def edit(*steps: Any) -> dict[str, Any]:
    return {"action": "edit", "steps": list(steps)}


@pytest.mark.parametrize("kind", ["review_plan", "clarify", "job", ""])
@pytest.mark.parametrize("value", [None, False, True, 0, 1, "", "approve", [], {}, [{}]])
def test_f35_empty_and_wrong_typed_answers_are_refused(kind: str, value: Any) -> None:
    """Field case F35: null, false, 0, '', [], {} as answers."""
    with pytest.raises(AnswerInvalid) as error:
        validate_answer(kind, PLAN, value)
    assert error.value.reason.endswith(".")
    assert "\n" not in error.value.reason


@pytest.mark.parametrize(
    "value",
    [
        {"action": "approve", "steps": []},
        {"action": "approve", "note": 1},
        {"action": "Approve"},
        {"action": None},
        {"action": "revise"},
        {"action": "revise", "feedback": "  "},
        {"action": "revise", "feedback": 7},
        {"action": "revise", "feedback": "x" * 8001},
        {"action": "edit"},
        {"action": "edit", "steps": {}},
        edit(),
        edit(*[{"title": "t"}] * (MAX_STEPS + 1)),
        edit("title"),
        edit({}),
        edit({"title": ""}),
        edit({"title": " \n"}),
        edit({"title": 5}),
        edit({"title": "x" * 501}),
        edit({"title": "t", "colour": "red"}),
        edit({"title": "t", "queries": "q"}),
        edit({"title": "t", "queries": [""]}),
        edit({"title": "t", "queries": [None]}),
        edit({"title": "t", "queries": ["q"] * 9}),
        edit({"title": "t", "intent": 4}),
        edit({"id": "s9", "title": "t"}),
        edit({"id": 1, "title": "t"}),
        edit({"id": "s1", "title": "t"}, {"id": "s1", "title": "u"}),
    ],
)
def test_answers_of_the_wrong_shape_are_refused(value: Any) -> None:
    with pytest.raises(AnswerInvalid):
        validate_answer("review_plan", PLAN, value)


def test_good_answers_come_through() -> None:
    assert validate_answer("review_plan", PLAN, {"action": "approve"}) == {"action": "approve"}
    assert validate_answer("clarify", {}, {"text": " a \x00 b "}) == {"text": "a \ufffd b"}
    revise = validate_answer("review_plan", PLAN, {"action": "revise", "feedback": "less\ud800"})
    assert revise == {"action": "revise", "feedback": "less\ufffd"}


def test_an_edit_derives_what_is_left_out() -> None:
    answer = validate_answer(
        "review_plan",
        PLAN,
        edit(
            {"id": "s2", "title": "Two"},
            {"title": "New \ud83d\ude00"},
            {"id": "s1", "title": "Uno"},
        ),
    )
    assert answer["steps"] == [
        {"title": "Two", "queries": ["q3"], "intent": "i2", "id": "s2"},
        {"title": "New 😀", "queries": ["New 😀"], "intent": "New 😀"},
        {"title": "Uno", "queries": ["Uno"], "intent": "Uno", "id": "s1"},
    ]


def test_a_plan_sent_back_as_it_came_is_accepted() -> None:
    answer = validate_answer("review_plan", PLAN, edit(*STEPS))
    assert [s["queries"] for s in answer["steps"]] == [["q1", "q2"], ["q3"]]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["review_plan", "clarify"]),
    json_values | st.fixed_dictionaries({"action": json_values, "steps": json_values}),
)
def test_any_json_is_an_answer_or_a_reason(kind: str, value: Any) -> None:
    try:
        answer = validate_answer(kind, PLAN, value)
    except AnswerInvalid as error:
        assert error.reason  # noqa: PT017
    else:
        assert isinstance(answer, dict)
