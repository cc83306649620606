"""Theorem 10: a whole solver repeated with noisy answers, its results averaged.

The runs are cut into B batches, memberships are the median of the batches' means, and centres are
computed from these memberships. Departures from the proof (paper note N22):

- B is 6 ln(n) as printed, though the stated failure probability needs 24 ln(n); pass `batches`.
- Medians of rows do not sum to one, so they are shifted as in Algorithm 1, line 6, before centres
  are computed from them.
- The noisy instances are not monotone, may leave [0, 1] and their rows do not sum to one, so no
  guarantee of the solver carries over. A negative answer counts as 0 where it is raised to a power.
  `repeated` averages before the solver sees an answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from askmeans._util.checks import as_matrix, check_number
from askmeans.exceptions import ParameterError, StopAsking
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.fuzzy.model import check_fuzzifier, weighted_centers
from askmeans.paper.plan import Asking, Plan, run_inside
from askmeans.paper.repeated import median_of_means
from askmeans.queries import Queries
from askmeans.results import Clustering

__all__ = ["repeated_solver"]

Floats = NDArray[np.float64]


def repeated_solver(
    make_plan: Callable[[], Plan],
    X: ArrayLike,
    times: int = 3,
    *,
    fuzzifier: float = 2.0,
    batches: int | None = None,
) -> Plan:
    """Let a plan run several times, asking anew each time, and average its results (Theorem 10).

    Memberships are averaged over the runs; centres are computed from the averaged memberships.

    Parameters
    ----------
    make_plan : callable
        Makes the plan, anew each time.
    X : array-like of shape (n_items, n_features)
        The items that the plan is about.
    times : int, default=3
        How often it runs (T in the paper; `budgets.noisy_repetitions` has the theorem's number).
    fuzzifier : float, default=2.0
        Alpha of the centres; the one that the plan was made with.
    batches : int or None, default=None
        Memberships are the median of so many batches' means (B in the paper); 1 is the mean of all
        runs, `times` their median. None for the paper's 6 ln(n), rounded up, or `times` if that is
        less.

    Returns
    -------
    generator
        A plan. A stop averages the runs that are complete, or returns the first as far as it got.

    Raises
    ------
    ParameterError
        If `times` is not a whole number from 1 up, or `batches` not one from 1 to `times`.
    DataError
        If X is no finite matrix, or has not as many rows as the plan has items.

    Examples
    --------
    >>> from askmeans import TwoPhase, oracles, run
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> oracle = oracles.NoisyOracle(oracles.TableOracle.from_labels([0, 0, 1, 1]), std=0.2)
    >>> rng = np.random.default_rng(0)
    >>> def make_plan():
    ...     return TwoPhase(sample_size=6).plan(X, 2, fuzzifier=2.0, rng=rng)
    >>> run(repeated_solver(make_plan, X, times=5), oracle).clustering.memberships.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    owner = "repeated_solver"
    check_number(times, "times", owner, integer=True, minimum=1)
    check_fuzzifier(fuzzifier, owner, strict=False)
    items = as_matrix(X, "X")
    if batches is None:
        batches = min(times, max(1, math.ceil(6.0 * math.log(len(items)))))
    check_number(batches, "batches", owner, integer=True, minimum=1)
    if batches > times:
        raise ParameterError(
            f"The 'batches' parameter of {owner} must be at most 'times', {times}. "
            f"Got {batches} instead."
        )
    return _solve(make_plan, items, int(times), fuzzifier, int(batches))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Committee:
    """Predictors whose memberships are averaged, their clusters in one order."""

    members: tuple[Callable[[NDArray[np.floating]], Floats], ...]
    orders: tuple[NDArray[np.intp], ...]
    batches: int

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships (n x k) of these items; rows sum to one."""
        pairs = zip(self.members, self.orders, strict=True)
        return _average([member(X)[:, order] for member, order in pairs], self.batches)


def _solve(
    make_plan: Callable[[], Plan], X: Floats, times: int, fuzzifier: float, batches: int
) -> Asking[Clustering]:
    """Run after run; the results of those that are complete, averaged."""
    clusterings: list[Clustering] = []
    for number in range(times):
        clustering, stopped = yield from _run_once(make_plan(), number, times)
        if not stopped or not clusterings:
            clusterings.append(clustering)
        if stopped:
            break
    notes = dict.fromkeys(note for one in clusterings for note in one.diagnostics.notes)
    batches = min(batches, len(clusterings))
    orders = [_matched(clusterings[0].memberships, one.memberships) for one in clusterings]
    memberships = _average(
        [one.memberships[:, order] for one, order in zip(clusterings, orders, strict=True)], batches
    )
    centers = weighted_centers(X, memberships, fuzzifier)
    lost = np.isnan(centers).any(axis=1)  # no item belongs to the cluster: 0 / 0
    centers[lost] = clusterings[0].centers[lost]
    return Clustering(
        centers=centers,
        memberships=memberships,
        predictor=_Committee(
            members=tuple(one.predictor for one in clusterings),
            orders=tuple(orders),
            batches=batches,
        ),
        complete=len(clusterings) == times and all(one.complete for one in clusterings),
        diagnostics=replace(clusterings[0].diagnostics, notes=tuple(notes)),
    )


def _run_once(plan: Plan, number: int, times: int) -> Asking[tuple[Clustering, bool]]:
    """One run, whose questions are all asked anew; whether it was stopped."""
    stopped = False

    def ask(queries: Queries) -> Asking[Floats]:
        nonlocal stopped
        try:
            return (yield queries.with_repeats(queries.repeat * times + number))
        except StopAsking:
            stopped = True
            raise

    clustering = yield from run_inside(plan, ask)
    return clustering, stopped


def _matched(reference: Floats, memberships: Floats) -> NDArray[np.intp]:
    """Which cluster is which of the reference: similarity questions number them anew."""
    order: NDArray[np.intp] = linear_sum_assignment(reference.T @ memberships, maximize=True)[1]
    return order


def _average(tables: list[Floats], batches: int) -> Floats:
    """The median of the batches' means, entry by entry; rows made to sum to one."""
    return onto_simplex(median_of_means(np.array(tables), batches))
