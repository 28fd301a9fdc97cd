"""`Context`: what one run hands to every node."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from graph.ports import Library, Sink, Web
from graph.reasoner import Reasoner


@dataclass(frozen=True, slots=True)
class Context:
    """Lives as long as a run, never in a checkpoint. `clock` gives aware UTC times; prices
    are USD per million tokens, for the estimate of a plan."""

    reasoner: Reasoner
    library: Library
    web: Web
    sink: Sink
    run_id: str
    clock: Callable[[], datetime]
    price_input: float = 0.0
    price_output: float = 0.0
