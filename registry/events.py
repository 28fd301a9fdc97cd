"""Events: immutable records with an id `<epoch>-<seq>`, encoded once into an SSE frame.

Invariants of a frame, which every reader may rely on:
1. `data` is one line of JSON; CR and LF never occur raw in it.
2. U+2028, U+2029 and U+0085 are escaped, so line-based readers cannot cut it.
3. NUL and lone surrogates never leave: they become U+FFFD.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

# Bold in the contract: each ends its run; a stream ends after the one of the latest run.
ENDING: Final = frozenset(
    {"run.waiting", "run.succeeded", "run.failed", "run.cancelled", "run.interrupted"}
)
LIFECYCLE: Final = ENDING | {
    "run.queued",
    "run.started",
    "run.stopping",
    "interrupt",
    "requirement",
}

_UNSENDABLE: Final = re.compile("[\x00\ud800-\udfff]")
_ID: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})", re.ASCII)


class EventId(NamedTuple):
    """Compares as a tuple: by epoch, then by sequence."""

    epoch: int
    seq: int

    def __str__(self) -> str:
        return f"{self.epoch}-{self.seq}"

    @classmethod
    def parse(cls, text: str) -> "EventId | None":
        """None where the text is not an id; never raises."""
        match = _ID.fullmatch(text)
        return cls(int(match[1]), int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class Event:
    id: EventId
    name: str
    data: Mapping[str, Any]
    frame: bytes

    @classmethod
    def make(cls, event_id: EventId, name: str, data: Mapping[str, Any]) -> "Event":
        """Stamps `ts` (RFC 3339, UTC) where the data has none, and encodes the frame."""
        body = data if "ts" in data else {**data, "ts": now()}
        return cls(event_id, name, body, encode_frame(event_id, name, body))


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode_json(data: Any) -> bytes:
    """One line of JSON that keeps the invariants above."""
    try:
        raw = msgspec.json.encode(data)
        if b"\\u0000" in raw:  # may be a NUL, or the six characters written out
            raw = msgspec.json.encode(scrub(data))
    except UnicodeEncodeError:
        raw = msgspec.json.encode(scrub(data))
    return (
        raw.replace(b"\xe2\x80\xa8", b"\\u2028")
        .replace(b"\xe2\x80\xa9", b"\\u2029")
        .replace(b"\xc2\x85", b"\\u0085")
    )


def encode_frame(event_id: EventId | None, name: str, data: Mapping[str, Any]) -> bytes:
    """The bytes of one SSE event; without an id for events made for one follower."""
    head = f"id: {event_id}\n" if event_id is not None else ""
    return b"%bevent: %b\ndata: %b\n\n" % (head.encode(), name.encode(), encode_json(data))


def scrub(value: Any) -> Any:
    """NUL and lone surrogates to U+FFFD, in every string of a JSON value; pairs are joined."""
    if isinstance(value, str):
        if not _UNSENDABLE.search(value):
            return value
        joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined.replace("\x00", "\ufffd")
    if isinstance(value, Mapping):
        return {scrub(k): scrub(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [scrub(item) for item in value]
    return value
