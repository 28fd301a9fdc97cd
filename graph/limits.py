"""How much each depth may cost, and what a plan of so many steps is likely to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph.context import Context
from graph.state import Step


@dataclass(frozen=True, slots=True)
class Limits:
    steps: int  # of the first plan; the reader's edit may have up to 12
    queries: int  # per step
    passages: int  # evidence per step
    pages: int  # read from the web per step
    rounds: int  # reflect loops
    seconds: tuple[float, float]  # per step, with a model
    tokens: tuple[int, int]  # per step, with a model; about a fifth of it output


DEPTHS: Final[Mapping[str, Limits]] = {
    "quick": Limits(3, 2, 8, 2, 0, (4, 20), (2_500, 7_000)),
    "standard": Limits(5, 3, 12, 4, 1, (6, 40), (4_000, 12_000)),
    "deep": Limits(6, 4, 16, 6, 2, (10, 80), (6_000, 20_000)),
}
_OUTPUT_SHARE: Final = 0.2
_OFFLINE_SECONDS: Final = (0.2, 2.0)


def limits(depth: str) -> Limits:
    return DEPTHS.get(depth, DEPTHS["standard"])


def estimate(steps: Sequence[Step], depth: str, ctx: Context) -> dict[str, Any]:
    """What a plan will take, as ranges. `runs_seen` counts the past runs it learnt from."""
    bounds = limits(depth)
    count = len(steps) + 1  # the summary costs about as much as a step
    loops = 1 + bounds.rounds
    if ctx.reasoner.name == "extractive":
        seconds = [round(s * count, 1) for s in _OFFLINE_SECONDS]
        return {"seconds": seconds, "tokens": [0, 0], "cost_usd": [0.0, 0.0], "runs_seen": 0}
    tokens = [bounds.tokens[0] * count, bounds.tokens[1] * count * loops]
    price = (1 - _OUTPUT_SHARE) * ctx.price_input + _OUTPUT_SHARE * ctx.price_output
    return {
        "seconds": [round(bounds.seconds[0] * count), round(bounds.seconds[1] * count * loops)],
        "tokens": tokens,
        "cost_usd": [round(t * price / 1_000_000, 4) for t in tokens],
        "runs_seen": 0,
    }
