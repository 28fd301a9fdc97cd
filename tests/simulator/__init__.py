"""A scripted OpenAI-compatible chat server on loopback, for tests and benchmarks."""

from tests.simulator.process import Simulator

__all__ = ["Simulator"]
