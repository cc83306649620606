"""Theorem 10: a whole solver repeated with noisy answers, its results averaged.

For comparison. The theorem's noisy instances are not monotone and their rows do not sum to one, so
no guarantee of the solver carries over (paper note N22): `repeated` averages before the solver sees
an answer.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from askmeans.exceptions import StopAsking
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.plans.answers import Plan
from askmeans.queries import Queries
from askmeans.results import Clustering
from askmeans.wrappers.repeated import Average, aggregate, check_repeats, stop_plan, with_repeat

__all__ = ["repeated_solver"]

Floats = NDArray[np.float64]


def repeated_solver(
    make_plan: Callable[[], Plan], times: int = 3, *, how: Average = "median-of-means"
) -> Plan:
    """Let a plan run several times, asking anew each time, and average its results (Theorem 10).

    Parameters
    ----------
    make_plan : callable
        Makes the plan, anew each time.
    times : int, default=3
        How often it runs (T in the paper; `budgets.noisy_repetitions` has the theorem's number).
    how : {"median-of-means", "mean", "median", "trimmed-mean"}, default="median-of-means"
        How memberships and centres are averaged.

    Returns
    -------
    generator
        A plan. A stop averages the runs that are complete, or returns the first as far as it got.

    Raises
    ------
    ParameterError
        If `times` is not a whole number from 1 up, or `how` is no such word.

    Examples
    --------
    >>> from askmeans import TwoPhase, oracles, run
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> oracle = oracles.NoisyOracle(oracles.TableOracle.from_labels([0, 0, 1, 1]), std=0.2)
    >>> rng = np.random.default_rng(0)
    >>> def make_plan():
    ...     return TwoPhase(sample_size=6).plan(X, 2, fuzzifier=2.0, rng=rng)
    >>> run(repeated_solver(make_plan, times=5), oracle).clustering.memberships.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    check_repeats(times, how, "repeated_solver")
    return _solve(make_plan, int(times), how)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Committee:
    """Predictors whose memberships are averaged, their clusters in one order."""

    members: tuple[Callable[[NDArray[np.floating]], Floats], ...]
    orders: tuple[NDArray[np.intp], ...]
    how: Average

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships (n x k) of these items; rows sum to one."""
        pairs = zip(self.members, self.orders, strict=True)
        return _average([member(X)[:, order] for member, order in pairs], self.how, rows=True)


def _solve(
    make_plan: Callable[[], Plan], times: int, how: Average
) -> Generator[Queries, Floats, Clustering]:
    """Run after run; the results of those that are complete, averaged."""
    found: list[Clustering] = []
    for number in range(times):
        clustering, stopped = yield from _run_once(make_plan(), number, times)
        if not stopped or not found:
            found.append(clustering)
        if stopped:
            break
    orders = [_matched(found[0].memberships, one.memberships) for one in found]
    memberships = [one.memberships[:, order] for one, order in zip(found, orders, strict=True)]
    centers = [one.centers[order] for one, order in zip(found, orders, strict=True)]
    predictors = tuple(one.predictor for one in found)
    return Clustering(
        centers=_average(centers, how, rows=False),
        memberships=_average(memberships, how, rows=True),
        predictor=_Committee(members=predictors, orders=tuple(orders), how=how),
        complete=len(found) == times and all(one.complete for one in found),
        diagnostics=found[0].diagnostics | {"runs": len(found)},
    )


def _run_once(
    plan: Plan, number: int, times: int
) -> Generator[Queries, Floats, tuple[Clustering, bool]]:
    """One run, whose questions are all asked anew; whether it was stopped."""
    stopped = False
    try:
        queries = next(plan)
        while True:
            try:
                answers = yield with_repeat(queries, queries.repeat * times + number)
            except StopAsking as stop:
                stopped = True
                stop_plan(plan, stop.answers, stop.reached)
            queries = plan.send(answers)
    except StopIteration as end:
        return end.value, stopped
    finally:
        plan.close()


def _matched(reference: Floats, memberships: Floats) -> NDArray[np.intp]:
    """Which cluster is which of the reference: similarity questions number them anew."""
    order: NDArray[np.intp] = linear_sum_assignment(reference.T @ memberships, maximize=True)[1]
    return order


def _average(tables: list[Floats], how: Average, *, rows: bool) -> Floats:
    """Entry by entry; rows of memberships made to sum to one."""
    flat = aggregate(np.array([table.ravel() for table in tables]), how)
    average = flat.reshape(tables[0].shape)
    return onto_simplex(average) if rows else average
