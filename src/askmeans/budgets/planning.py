"""How far a budget goes: strategies, their sizes, and the error to expect.

The counts and errors are forecasts, not promises. `benchmarks/budgets.py` prints what they were
measured on: fuzzy k-means targets of Iris, Wine, Breast Cancer and blobs. An expert whose clusters
follow other lines than distance will leave a larger error, whatever the budget.
"""

import math
from dataclasses import dataclass
from typing import Literal

from askmeans.budgets.prices import similarity_price
from askmeans.checks import check_choice, check_number
from askmeans.exceptions import BudgetError
from askmeans.strategies import Sequential, Strategy, TwoClusters, TwoPhase

__all__ = ["Forecast", "forecast", "minimum_budget", "plan_budget"]

Ask = Literal["membership", "similarity"]

# Measured by benchmarks/budgets.py: mean membership error times sqrt(sample_size).
ERRORS = {TwoPhase: 0.16, Sequential: 0.12, TwoClusters: 0.15}
# Questions of a search, per cluster and halving of the gap between sampled items; at most.
SEARCH = 2.4
# Bins that are not empty, of the sequential and of the two-cluster strategy.
BINS = {Sequential: 9.0, TwoClusters: 2.7}
# The smallest sample that is worth its name: so many items a cluster.
SMALLEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a strategy will probably cost and reach.

    Parameters
    ----------
    strategy : Strategy
        The strategy with its sizes.
    n_queries : int
        Different questions, about.
    n_rounds : int
        Rounds, about.
    expected_error : float
        Mean membership error to expect from an expert whose clusters follow distance.

    Examples
    --------
    >>> from askmeans import TwoPhase
    >>> forecast(TwoPhase(sample_size=100), 10_000, 3).expected_error
    0.016
    """

    strategy: Strategy
    n_queries: int
    n_rounds: int
    expected_error: float


def forecast(strategy: Strategy, n: int, k: int, *, ask: Ask = "membership") -> Forecast:
    """Questions, rounds and error to expect from a strategy.

    Parameters
    ----------
    strategy : Strategy
        A strategy with its sizes.
    n : int
        Number of items.
    k : int
        Number of clusters.
    ask : {"membership", "similarity"}, default="membership"
        What is asked.

    Returns
    -------
    Forecast
        About what it will cost and reach.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> from askmeans import TwoPhase
    >>> forecast(TwoPhase(sample_size=100), 10_000, 3).n_queries
    247
    """
    _check(n, k, ask, "forecast")
    m = strategy.sample_size
    halvings = math.log2(1.0 + n / m)
    rows = _distinct(n, m)
    searched = 1 if k == 2 else k
    n_queries = rows * max(k - 1, 1) + SEARCH * searched * halvings
    rounds = 1.0 + halvings
    if isinstance(strategy, Sequential):
        bins = BINS[Sequential] * strategy.bin_size * k * (k - 1) / 2
        n_queries += bins + SEARCH * (k - 1) * halvings
        rounds += (k - 1) * (1.0 + halvings)
    elif isinstance(strategy, TwoClusters):
        n_queries += BINS[TwoClusters] * strategy.bin_size + 2.0 * math.log2(n)
        rounds += 1.0 + 2.0 * math.log2(n)
    n_queries = min(n_queries, n * max(k - 1, 1))  # there is no more to ask
    if ask == "similarity" and k > 1:
        price = similarity_price(max(1, math.ceil(n_queries / (k - 1))), k)
        n_queries = price["pairs"] + price["triplets"]
    return Forecast(
        strategy=strategy,
        n_queries=math.ceil(n_queries),
        n_rounds=math.ceil(rounds),
        expected_error=ERRORS[type(strategy)] / math.sqrt(m),
    )


def minimum_budget(n: int, k: int, *, ask: Ask = "membership") -> int:
    """The smallest budget for which a plan can be made.

    Parameters
    ----------
    n : int
        Number of items.
    k : int
        Number of clusters.
    ask : {"membership", "similarity"}, default="membership"
        What is asked.

    Returns
    -------
    int
        Questions: a two-phase sample of three items a cluster, and its search.

    Raises
    ------
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> minimum_budget(10_000, 3)
    91
    """
    _check(n, k, ask, "minimum_budget")
    return forecast(TwoPhase(sample_size=SMALLEST * k), n, k, ask=ask).n_queries


def plan_budget(
    budget: int,
    n: int,
    k: int,
    *,
    ask: Ask = "membership",
    kind: type[Strategy] | None = None,
) -> Forecast:
    """The strategy and sizes that make the most of a budget.

    Parameters
    ----------
    budget : int
        Different questions at most.
    n : int
        Number of items.
    k : int
        Number of clusters.
    ask : {"membership", "similarity"}, default="membership"
        What is asked.
    kind : type or None, default=None
        A strategy's class, to have its sizes; None for the one with the smallest expected error.

    Returns
    -------
    Forecast
        The strategy, and what to expect of it.

    Raises
    ------
    BudgetError
        If the budget is too small; the message names the smallest.
    ParameterError
        If a number is out of its range.

    Examples
    --------
    >>> plan = plan_budget(200, 10_000, 3)
    >>> plan.strategy.sample_size, plan.n_queries <= 200
    (74, True)
    """
    owner = "plan_budget"
    _check(n, k, ask, owner)
    check_number(budget, "budget", owner, integer=True, minimum=1)
    kinds: list[type[Strategy]] = [TwoPhase, Sequential]
    if k == 2:
        kinds.append(TwoClusters)
    plans = []
    for candidate in kinds if kind is None else [kind]:
        least = forecast(_sized(candidate, SMALLEST * k), n, k, ask=ask)
        if least.n_queries > budget:
            if kind is not None or candidate is TwoPhase:
                raise BudgetError(
                    f"The 'budget' parameter must be at least {least.n_queries} questions for "
                    f"{candidate.__name__} on {n} items and {k} clusters. Got {budget} instead."
                )
            continue
        low, high = SMALLEST * k, max(SMALLEST * k, 4 * budget)  # the largest sample that fits
        while low < high:
            middle = (low + high + 1) // 2
            if forecast(_sized(candidate, middle), n, k, ask=ask).n_queries <= budget:
                low = middle
            else:
                high = middle - 1
        plans.append(forecast(_sized(candidate, low), n, k, ask=ask))
    return min(plans, key=lambda plan: plan.expected_error)


def _sized(kind: type[Strategy], sample_size: int) -> Strategy:
    """A strategy of this kind around a sample, its bins a quarter as large."""
    if issubclass(kind, TwoPhase):
        return TwoPhase(sample_size=sample_size)
    bin_size = max(2, sample_size // 4)
    if issubclass(kind, TwoClusters):
        return TwoClusters(sample_size=sample_size, bin_size=bin_size)
    return Sequential(sample_size=sample_size, bin_size=bin_size)


def _distinct(n: int, m: int) -> float:
    """How many different items so many draws with replacement meet."""
    return -n * math.expm1(m * math.log1p(-1.0 / n)) if n > 1 else 1.0


def _check(n: int, k: int, ask: str, owner: str) -> None:
    """Refuse what no forecast is about."""
    check_number(n, "n", owner, integer=True, minimum=1)
    check_number(k, "k", owner, integer=True, minimum=1)
    check_choice(ask, ("membership", "similarity"), "ask", owner)
