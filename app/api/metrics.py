"""Gauges in the Prometheus text format, version 0.0.4."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gauge:
    """`values` by the value of `label`; one value under "" where there is no label."""

    name: str
    help: str
    label: str
    values: Mapping[str, float]


def render(gauges: Sequence[Gauge]) -> str:
    lines: list[str] = []
    for gauge in gauges:
        lines += [f"# HELP {gauge.name} {gauge.help}", f"# TYPE {gauge.name} gauge"]
        for key, value in gauge.values.items():
            escaped = key.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            labels = f'{{{gauge.label}="{escaped}"}}' if gauge.label else ""
            lines.append(f"{gauge.name}{labels} {value:g}")
    return "\n".join(lines) + "\n"
