"""Budgets: forecasts of questions and errors, and the theorems of the paper as functions.

Forecasts are estimates, not guarantees. `benchmarks/budgets.py` prints their source: fuzzy k-means
targets of Iris, Wine, Breast Cancer and blobs. If an expert's clusters do not follow distances, the
error is larger at every budget.
"""

import math
from dataclasses import dataclass
from typing import get_args

from askmeans._util.checks import check_choice, check_number
from askmeans.exceptions import BudgetError, ParameterError
from askmeans.paper.prices import (
    noisy_repetitions,
    purity_bound,
    similarity_price,
    xie_beni_bound,
)
from askmeans.paper.sampling import center_radii
from askmeans.paper.theorems import (
    sequential_sizes,
    two_clusters_sizes,
    two_phase_sizes,
    variance_size,
)
from askmeans.policy.ranking import Ask
from askmeans.policy.stratified import GROWTH
from askmeans.strategies import (
    PaperStrategy,
    Sequential,
    Strategy,
    Stratified,
    TwoClusters,
    TwoPhase,
)

__all__ = [
    "center_radii",
    "forecast",
    "noisy_repetitions",
    "plan_budget",
    "purity_bound",
    "sequential_sizes",
    "similarity_price",
    "two_clusters_sizes",
    "two_phase_sizes",
    "variance_size",
    "xie_beni_bound",
]

# benchmarks/budgets.py: upper range of the mean membership error times the root of the sample size.
ERRORS: tuple[tuple[type[Strategy], float], ...] = (
    (Stratified, 0.12),  # on the targets of benchmarks/questions.py, which are harder
    (TwoPhase, 0.16),
    (Sequential, 0.12),
    (TwoClusters, 0.15),
)
# Questions of a search, per cluster and halving of the gap between sampled items, at a precision of
# 0.1; inversely proportional to the precision (benchmarks/budgets.py).
SEARCH = 2.4
# Mean numbers of non-empty bins of the sequential and the two-cluster strategy (the same).
SEQUENTIAL_BINS, GEOMETRIC_BINS = 9.0, 2.7
SMALLEST = 3  # items per cluster in a sample: a mean and its spread need more than two
MARGIN = 1.1  # of the forecast, reserved for searches that take longer than the mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The forecast cost and error of a strategy.

    Parameters
    ----------
    strategy : Strategy
        The strategy with its sizes.
    n_queries : int
        Estimated number of different questions.
    n_rounds : int
        Estimated number of rounds.
    expected_error : float
        Estimated mean membership error, if the expert's clusters follow distances.
    """

    strategy: Strategy
    n_queries: int
    n_rounds: int
    expected_error: float


def forecast(strategy: Strategy, n: int, k: int, *, ask: Ask = "membership") -> Forecast:
    """Forecast the questions, rounds and error of a strategy.

    Parameters
    ----------
    strategy : Strategy
        A strategy with its sizes.
    n : int
        Number of items.
    k : int
        Number of clusters.
    ask : {"membership", "group", "similarity", "pairwise", "relative"}, default="membership"
        The kind of question; "group" and "relative" with `Stratified` only.

    Returns
    -------
    Forecast
        The cost and the error; the latter for bins of a quarter of the sample.

    Examples
    --------
    >>> from askmeans import TwoPhase
    >>> forecast(TwoPhase(sample_size=100), 10_000, 3).n_queries
    247
    """
    _check(n, k, ask, "forecast")
    if isinstance(strategy, Stratified):
        return _stratified(strategy, n, k, ask)
    assert isinstance(strategy, PaperStrategy)
    if ask in ("group", "relative"):
        raise ParameterError(
            f"The 'ask' parameter of forecast must not be {ask!r} with {type(strategy).__name__}, "
            f"which asks for single memberships. Got {ask!r} instead; Stratified asks so."
        )
    if strategy.faithful:
        raise ParameterError(
            "Forecasts are for strategies with faithful=False. Got faithful=True; see the sizes of "
            "the theorems for the cost of following the paper exactly."
        )
    m = strategy.sample_size
    halvings = math.log2(1.0 + n / m)
    finer = 0.1 / strategy.precision
    search = SEARCH * finer * (1 if k == 2 else k) * halvings
    met = _distinct(n, m) + search  # items about which anything is asked
    n_queries = _distinct(n, m) * (k - 1) + search
    rounds = 1.0 + halvings
    if isinstance(strategy, Sequential):
        coarse = SEARCH * (0.1 / strategy.coarse_precision) * (k - 1) * halvings
        drawn = SEQUENTIAL_BINS * strategy.bin_size
        n_queries += drawn * k * (k - 1) / 2 + coarse
        met += drawn * (k - 1) + coarse
        rounds += (k - 1) * (1.0 + halvings)
    elif isinstance(strategy, TwoClusters):
        bins = GEOMETRIC_BINS * strategy.bin_size + 2.0 * math.log2(n)
        n_queries += bins
        met += bins
        rounds += 1.0 + 2.0 * math.log2(n)
    n_queries = min(n_queries, n * (k - 1))  # there is no more to ask
    if ask != "membership" and k > 1:
        price = similarity_price(max(1, math.ceil(min(met, n))), k)
        n_queries = price["pairs"] + (price["triplets"] if ask == "similarity" else 0)
    error = next(value for kind, value in ERRORS if isinstance(strategy, kind))
    return Forecast(
        strategy=strategy,
        n_queries=math.ceil(n_queries),
        n_rounds=math.ceil(rounds) if n_queries else 0,
        expected_error=error / math.sqrt(m),
    )


def _stratified(strategy: Stratified, n: int, k: int, ask: Ask) -> Forecast:
    """Forecast the stratified strategy with its maximum number of items."""
    m = n if strategy.max_items is None else min(strategy.max_items, n)
    n_queries = m * (k - 1)
    rounds = 2 * (k - 1) + math.log(max(1.0, m / (2 * k))) / math.log1p(GROWTH)
    if ask == "group":
        n_queries = m if k > 1 else 0
        rounds = 1.0 + math.log(max(1.0, m / k)) / math.log1p(GROWTH)
    elif ask not in ("membership", "relative") and k > 1:
        price = similarity_price(m, k)
        n_queries = price["pairs"] + (price["triplets"] if ask == "similarity" else 0)
    error = next(value for kind, value in ERRORS if kind is Stratified)
    return Forecast(
        strategy=strategy,
        n_queries=n_queries,
        n_rounds=math.ceil(rounds) if n_queries else 0,
        expected_error=error / math.sqrt(m),
    )


def plan_budget(
    budget: int,
    n: int,
    k: int,
    *,
    ask: Ask = "membership",
    kind: type[Strategy] | None = None,
) -> Forecast:
    """The strategy and the largest sizes for a budget.

    Parameters
    ----------
    budget : int
        Maximum number of different questions.
    n : int
        Number of items.
    k : int
        Number of clusters.
    ask : {"membership", "group", "similarity", "pairwise", "relative"}, default="membership"
        The kind of question; "group" and "relative" with `Stratified` only.
    kind : type or None, default=None
        The class of the strategy; None for the one with the smallest expected error.

    Returns
    -------
    Forecast
        The strategy with its cost and its error.

    Examples
    --------
    >>> plan = plan_budget(200, 10_000, 3)
    >>> plan.strategy.max_items, plan.n_queries <= 200
    (90, True)
    """
    owner = "plan_budget"
    _check(n, k, ask, owner)
    check_number(budget, "budget", owner, integer=True, minimum=1)
    if kind is TwoClusters and k != 2:
        raise ParameterError(
            f"The 'k' parameter of {owner} must be 2 with TwoClusters. Got {k} instead; "
            "use Stratified for any number."
        )
    plans = []
    for candidate in kinds_for(k, ask) if kind is None else [kind]:
        least = _with_margin(forecast(_sized(candidate, SMALLEST * k), n, k, ask=ask), n, k, ask)
        if least > budget:
            if kind is not None or candidate is Stratified:
                raise BudgetError(
                    f"The 'budget' parameter must be at least {least} questions for "
                    f"{candidate.__name__} on {n} items and {k} clusters. Got {budget} instead."
                )
            continue
        low, high = SMALLEST * k, max(SMALLEST * k, n)  # the largest sample that fits
        while low < high:
            middle = (low + high + 1) // 2
            tried = forecast(_sized(candidate, middle), n, k, ask=ask)
            if _with_margin(tried, n, k, ask) <= budget:
                low = middle
            else:
                high = middle - 1
        plans.append(forecast(_sized(candidate, low), n, k, ask=ask))
    return min(plans, key=lambda plan: plan.expected_error)


def kinds_for(k: int, ask: Ask) -> list[type[Strategy]]:
    """The strategies for this kind of question and number of clusters."""
    if ask in ("group", "relative"):
        return [Stratified]
    two: list[type[Strategy]] = [TwoClusters] if k == 2 else []
    return [Stratified, TwoPhase, Sequential, *two]


def _with_margin(plan: Forecast, n: int, k: int, ask: Ask) -> int:
    """The forecast with a margin for long searches, up to the number of all questions."""
    if ask == "group":  # an item is one question
        return plan.n_queries
    return min(math.ceil(MARGIN * plan.n_queries), max(plan.n_queries, n * (k - 1)))


def _sized(kind: type[Strategy], sample_size: int) -> Strategy:
    """Make a strategy of this kind with a sample size, and bins of a quarter of it."""
    if issubclass(kind, Stratified):
        return Stratified(max_items=sample_size)
    if issubclass(kind, TwoPhase):
        return TwoPhase(sample_size=sample_size)
    bin_size = max(2, sample_size // 4)
    if issubclass(kind, TwoClusters):
        return TwoClusters(sample_size=sample_size, bin_size=bin_size)
    return Sequential(sample_size=sample_size, bin_size=bin_size)


def _distinct(n: int, m: int) -> float:
    """The expected number of different items in draws with replacement."""
    return -n * math.expm1(m * math.log1p(-1.0 / n)) if n > 1 else 1.0


def _check(n: int, k: int, ask: str, owner: str) -> None:
    """Check the parameters of a forecast."""
    check_number(n, "n", owner, integer=True, minimum=1)
    check_number(k, "k", owner, integer=True, minimum=1)
    check_choice(ask, get_args(Ask), "ask", owner)
