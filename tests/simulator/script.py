"""The model's name as a script: pace, length and faults."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

_NAME = re.compile(r"sim-(\d+(?:\.\d+)?)x(\d+)((?:-\w+(?:@\d+)?)*)$")


@dataclass(frozen=True, slots=True)
class Script:
    """`rate` in tokens a second, 0 for no pace; `count` in tokens at most."""

    rate: float = 0.0
    count: int = 200
    always: frozenset[str] = frozenset()
    once: dict[str, int] = field(default_factory=dict[str, int])  # fault -> the call it hits

    @classmethod
    def of(cls, model: str) -> "Script":
        """Any other name gets 200 tokens as fast as they go."""
        match = _NAME.match(model)
        if match is None:
            return cls()
        names = [name for name in match[3].split("-") if name]
        marked = [name.split("@") for name in names if "@" in name]
        return cls(
            rate=float(match[1]),
            count=int(match[2]),
            always=frozenset(name for name in names if "@" not in name),
            once={name: int(call) for name, call in marked},
        )

    def faults(self, call: int) -> frozenset[str]:
        """The faults of the `call`-th call, counted from 1."""
        return self.always | {name for name, k in self.once.items() if k == call}


def refusal(faults: Collection[str]) -> tuple[int, str, str] | None:
    """Status, extra headers and error code of a call that is refused outright."""
    if "quota" in faults:
        return 429, "", "insufficient_quota"
    table = {
        "429": (429, "retry-after: 2\r\n"),
        "429w": (429, "retry-after: 600\r\n"),
        "500": (500, ""),
        "400": (400, ""),
    }
    for name, (status, headers) in table.items():
        if name in faults:
            return status, headers, "scripted"
    return None
