"""A fault says in one line what happened and what to do, and never shows a key."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import openai
import pytest

from app.providers.faults import of_error, retry_after

WHERE = "http://models.test/v1"


def refused(status: int, body: object, **headers: str) -> openai.APIStatusError:
    request = httpx2.Request("POST", WHERE)
    response = httpx2.Response(status, headers=headers, request=request)
    return openai.APIStatusError("scripted", response=response, body=body)


@pytest.mark.parametrize(
    ("status", "body", "slug", "retryable"),
    [
        (401, {"message": "Incorrect API key provided: sk-live-12345678"}, "model-auth", False),
        (403, {}, "model-auth", False),
        (404, {"message": "no such model"}, "model-unknown", False),
        (429, {"message": "slow down"}, "model-limit", True),
        (429, {"message": "You exceeded your current quota"}, "model-quota", False),
        (402, {"message": "Insufficient credit"}, "model-quota", False),
        (400, {"message": "bad"}, "model-refused", False),
        (422, "text", "model-refused", False),
        (500, None, "model-down", True),
        (503, {"error": {"message": "overloaded"}}, "model-down", True),
    ],
)
def test_each_status_has_its_fault(status: int, body: object, slug: str, retryable: bool) -> None:
    fault = of_error(refused(status, body), WHERE)
    assert (fault.slug, fault.retryable) == (slug, retryable)
    detail = fault.problem["detail"]
    assert WHERE in detail
    assert str(status) in detail
    assert "sk-live" not in detail
    assert "\n" not in detail


def test_a_prompt_that_is_too_long_is_named_as_such() -> None:
    fault = of_error(refused(400, {"message": "maximum context length is 8192 tokens"}), WHERE)
    assert "longer context" in fault.problem["detail"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_to_wait_for_counts_from_now_and_never_back() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    assert 28 < (retry_after({"retry-after": soon}) or 0) <= 30
    assert retry_after({"retry-after": "Wed, 01 Jan 2020 00:00:00 GMT"}) == 0
