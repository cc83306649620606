"""What a plan is: a generator that yields questions, receives answers and returns a clustering."""

from collections.abc import Generator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import PlanError, StopAsking
from askmeans.queries import Queries
from askmeans.results import Clustering

__all__ = ["Asking", "Plan", "stop_plan"]

Floats = NDArray[np.float64]
Told = TypeVar("Told")

Plan = Generator[Queries, Floats, Clustering]
# A part of a plan: asks, and returns what the answers say.
Asking = Generator[Queries, Floats, Told]


def stop_plan(plan: Plan, answers: Floats, reached: NDArray[np.bool_] | None = None) -> None:
    """Throw StopAsking into a plan, which ends by StopIteration; refuse one that goes on."""
    plan.throw(StopAsking(answers, reached))
    raise PlanError(
        "A plan must return when StopAsking is thrown into it. Got more questions instead."
    )
