"""Benchmarks. Each module `bench/NAME.py` has `measure() -> Iterable[Figure]`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number, and the bound it has to keep where it has one."""

    name: str
    value: float
    unit: str
    bound: float | None = None
    better: Literal["lower", "higher"] = "lower"

    @property
    def kept(self) -> bool:
        if self.bound is None:
            return True
        return self.value <= self.bound if self.better == "lower" else self.value >= self.bound
