"""Why a model call failed, in one line for the person who can act, as an RFC 9457 problem."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, cast

import openai

from graph.ports import ModelFailed
from graph.text.clean import one_line, scrub

_QUOTA: Final = re.compile(r"insufficient_quota|quota|billing|credit", re.IGNORECASE)
_CONTEXT: Final = re.compile(
    r"context.{0,20}(?:length|window)|too long|maximum.{0,20}tokens", re.IGNORECASE
)
_SECRET: Final = re.compile(r"\b(?:sk|key|Bearer)[-_ ][\w*.-]{6,}", re.IGNORECASE)
_SAID: Final = 200  # code points of the endpoint's own words that go into a detail


class Fault(ModelFailed):
    """`retryable`: the same call may work soon; `retry_after`: seconds the endpoint asks for."""

    def __init__(
        self,
        slug: str,
        status: int,
        title: str,
        detail: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        refused: bool = False,
    ) -> None:
        super().__init__(
            {
                "type": f"/problems/{slug}",
                "title": title,
                "status": status,
                "detail": detail,
            }
        )
        self.slug = slug
        self.retryable = retryable
        self.retry_after = retry_after
        self.refused = refused  # of the request itself: another shape of it may pass


def of_error(error: Exception, where: str) -> Fault:
    """The fault behind what the client raised. `where` is the endpoint's address."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, where)
    if isinstance(error, openai.APITimeoutError | openai.APIConnectionError):
        cause = one_line(scrub(str(error.__cause__ or error)), _SAID)
        return Fault(
            "model-unreachable",
            503,
            "The model endpoint cannot be reached",
            f"No answer from {where} ({cause}): check OPENAI_BASE_URL and that it is running.",
            retryable=True,
        )
    return cut()


def _of_status(error: openai.APIStatusError, where: str) -> Fault:
    status, said = error.status_code, _words(error.body, error.message)
    after = retry_after(error.response.headers)
    if status in {401, 403}:
        return Fault(
            "model-auth",
            502,
            "The model endpoint refuses the key",
            f"{where} answered {status}: check OPENAI_API_KEY and what it may use.",
        )
    if status == 404:
        return Fault(
            "model-unknown",
            502,
            "The model is not there",
            f"{where} answered 404 ({said}): check MODEL and OPENAI_BASE_URL.",
            refused=True,
        )
    if status in (402, 429) and _QUOTA.search(f"{error.code} {error.type} {said}"):
        return Fault(
            "model-quota",
            503,
            "The quota of the model is used up",
            f"{where} answered {status} ({said}): add credit, or set another key or model.",
        )
    if status == 429:
        wait = "" if after is None else f", to be asked again in {after:g} seconds"
        return Fault(
            "model-limit",
            503,
            "The model endpoint is at its limit",
            f"{where} answered 429{wait}: wait, then resume.",
            retryable=True,
            retry_after=after,
        )
    if status >= 500 or status in (408, 409, 425):
        return Fault(
            "model-down",
            502,
            "The model endpoint failed",
            f"{where} answered {status} ({said}): resume once it works again.",
            retryable=True,
            retry_after=after,
        )
    hint = "the evidence is too long for this model: use one with a longer context"
    return Fault(
        "model-refused",
        502,
        "The model endpoint refused the request",
        f"{where} answered {status} ({said}): "
        + (f"{hint}." if _CONTEXT.search(said) else "check that MODEL is a chat model."),
        refused=True,
    )


def stream_error(error: Any) -> Fault:
    """An error object in the middle of a stream that began well."""
    said = _words(error, "no reason given")
    return Fault(
        "model-error",
        502,
        "The model endpoint broke off with an error",
        f"The stream ended with an error ({said}): resume to try again.",
    )


def no_stream(what: str) -> Fault:
    return Fault(
        "model-answer",
        502,
        "The model endpoint does not speak the chat protocol",
        f"It answered with {what}: check OPENAI_BASE_URL, which mostly ends in /v1.",
    )


def silent(seconds: float) -> Fault:
    return Fault(
        "model-silent",
        504,
        "The model went silent",
        f"No text came for {seconds:g} seconds (MODEL_IDLE_SECONDS): resume to try again.",
    )


def cut(why: str = "the connection ended before the answer did") -> Fault:
    return Fault(
        "model-cut",
        502,
        "The model's answer broke off",
        f"It did not end as it should ({why}): resume to try again.",
    )


def filtered() -> Fault:
    return Fault(
        "model-filtered",
        502,
        "The model's answer was withheld",
        "The endpoint's content filter stopped the answer: change the question or the model.",
    )


def too_long() -> Fault:
    return Fault(
        "model-length",
        502,
        "The model ran out of room",
        "The answer hit the model's length limit: use a model with a larger output limit.",
    )


def empty() -> Fault:
    return Fault(
        "model-empty",
        502,
        "The model gave no text",
        "The answer ended without any text: try again, or use another model.",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after` (seconds or an HTTP date), else None."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d+)?", value):
            return float(value) * scale
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


def _words(body: Any, fallback: str) -> str:
    """The endpoint's own words, on one line, without anything that looks like a key."""
    inner: Any = body
    if isinstance(inner, Mapping):
        table = cast("Mapping[str, Any]", inner)
        inner = table.get("error", table)
    if isinstance(inner, Mapping):
        table = cast("Mapping[str, Any]", inner)
        inner = table.get("message") or table.get("detail") or table.get("code") or fallback
    said = inner if isinstance(inner, str) else fallback
    return one_line(_SECRET.sub("[key]", scrub(said)), _SAID)
