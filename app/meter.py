"""Meter: the tokens and the money of a thread so far, as `usage` events."""

from typing import Any

from graph.ports import Sink, Usage

MILLION = 1_000_000


class Meter:
    """`base`: what the thread's earlier runs used; `counters`: where this run's is kept.
    Prices are USD per million tokens."""

    def __init__(
        self,
        sink: Sink,
        counters: dict[str, float],
        base: dict[str, float],
        *,
        price_input: float,
        price_output: float,
    ) -> None:
        self._sink = sink
        self._counters = counters
        self._base = base
        self._prices = (price_input, price_output)

    def add(self, node: str, usage: Usage) -> None:
        del node
        price_in, price_out = self._prices
        cost = (usage.input_tokens * price_in + usage.output_tokens * price_out) / MILLION
        for name, amount in (
            ("input_tokens", usage.input_tokens),
            ("output_tokens", usage.output_tokens),
            ("cost_usd", cost),
            ("estimated", int(usage.estimated)),
        ):
            self._counters[name] = self._counters.get(name, 0) + amount
        self._sink.emit("usage", usage_of(self._base, self._counters))


def usage_of(*sums: dict[str, float]) -> dict[str, Any]:
    """The contract's `usage` of summed counters."""
    total = {key: sum(part.get(key, 0) for part in sums) for key in KEYS}
    return {
        "input_tokens": int(total["input_tokens"]),
        "output_tokens": int(total["output_tokens"]),
        "cost_usd": round(total["cost_usd"], 6),
        "estimated": total["estimated"] > 0,
    }


KEYS = ("input_tokens", "output_tokens", "cost_usd", "estimated")
