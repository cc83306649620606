"""The type of a plan: a generator that yields questions, receives answers, returns a clustering."""

from collections.abc import Callable, Generator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans.exceptions import PlanError, StopAsking
from askmeans.queries import Queries
from askmeans.results import Clustering

Value = TypeVar("Value")

Plan = Generator[Queries, Floats, Clustering]
# A part of a plan: asks, and returns what follows from the answers.
Asking = Generator[Queries, Floats, Value]


def stop_plan(plan: Plan, answers: Floats, reached: NDArray[np.bool_] | None = None) -> None:
    """Throw StopAsking into a plan, which ends by StopIteration; a PlanError if it continues."""
    plan.throw(StopAsking(answers, reached))
    raise PlanError(
        "A plan must return when StopAsking is thrown into it. Got more questions instead."
    )


def run_inside(plan: Plan, ask: Callable[[Queries], Asking[Floats]]) -> Asking[Clustering]:
    """Run a plan within another; `ask` obtains the answers to its questions by other questions.

    `ask` raises StopAsking with the known answers to these questions; it is passed to the plan.
    """
    try:
        queries = next(plan)
        while True:
            try:
                answers = yield from ask(queries)
            except StopAsking as stop:
                stop_plan(plan, stop.answers, stop.reached)
            queries = plan.send(answers)
    except StopIteration as end:
        clustering: Clustering = end.value
        return clustering
    finally:
        plan.close()
