"""How ask=, levels=, repeats=, strategy= and budget= become a plan: for all who drive one."""

import copy
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from askmeans.checks import check_choice, check_fuzzifier, check_number
from askmeans.plans.answers import EXACT, Plan, rounding_noise
from askmeans.strategies import Sequential, Strategy, Stratified, TwoClusters, TwoPhase
from askmeans.wrappers import by_similarity, by_sorting, least_questions, repeated_adaptively
from askmeans.wrappers.pool_sizes import Route
from askmeans.wrappers.repeated import Average
from askmeans.wrappers.similarities import Similarities

__all__ = ["ASK", "check_asking", "make_plan", "named_strategy"]

ASK = ("membership", "similarity", "pairwise")
_NAMED: dict[str, type[Strategy]] = {
    "auto": Stratified,
    "stratified": Stratified,
    "two-phase": TwoPhase,
    "sequential": Sequential,
    "two-clusters": TwoClusters,
}


def check_asking(
    owner: str,
    *,
    n_clusters: Any,
    ask: Any,
    budget: Any,
    levels: Any,
    fuzzifier: Any,
    repeats: Any = 1,
) -> None:
    """Refuse parameters that break their rules, before the data is looked at."""
    check_number(n_clusters, "n_clusters", owner, integer=True, minimum=1)
    check_fuzzifier(fuzzifier, owner, strict=False)
    check_choice(ask, ASK, "ask", owner)
    if budget is not None:
        check_number(budget, "budget", owner, integer=True, minimum=1)
    if levels is not None:
        check_number(levels, "levels", owner, integer=True, minimum=2)
    check_number(repeats, "repeats", owner, integer=True, minimum=1)


def make_plan(
    items: Any,
    n_clusters: int,
    *,
    strategy: Any,
    ask: str,
    budget: int | None,
    levels: int | None,
    fuzzifier: float,
    rng: np.random.Generator,
    repeats: int = 1,
    rough: bool | None = None,
) -> Plan:
    """The strategy's plan, with its questions turned into similarities and repeated."""
    if budget is not None and isinstance(strategy, Stratified):
        strategy = replace(strategy, max_items=None)  # the budget is the limit
    similar = ask != "membership" and n_clusters > 1
    route: Route = "triplet" if ask == "similarity" else "pairwise"
    if budget is not None and repeats > 1 and similar:  # something is left for the repeats
        budget = max(budget // repeats, min(budget, least_questions(n_clusters, route)))
    if similar:  # memberships that follow from similarities lie on no scale, but are rough as it is
        row_noise: float | Literal["auto"] = "auto" if repeats > 1 else rounding_noise(levels)
        rough_strategy = _with_roughness(
            strategy, levels=None, unknown_noise=False, row_noise=row_noise
        )
    else:
        several = repeats > 1 and levels is not None
        rough_strategy = _with_roughness(strategy, levels=levels, unknown_noise=several)

    def plan(rng: np.random.Generator, chosen: Any = rough_strategy) -> Plan:
        made: Plan = chosen.plan(items, n_clusters, fuzzifier=fuzzifier, rng=rng)
        return made

    def pooled(rng: np.random.Generator, told: Similarities | None = None) -> Plan:
        return by_similarity(
            plan(rng),
            len(items),
            n_clusters,
            rng=rng,
            route=route,
            rough=rough,
            levels=levels,
            budget=budget,
            similar=told,
        )

    def make(rng: np.random.Generator) -> Plan:
        if not similar:
            return plan(rng)
        if repeats > 1 or rough or levels not in (None, 2):  # these are not all or nothing
            return pooled(rng)
        exact = partial(plan, chosen=strategy)
        return by_sorting(exact, pooled, len(items), n_clusters, rng=rng)

    if repeats == 1:
        return make(rng)
    # Played several times, each time from the same state: the first asks what one alone would.
    start = copy.deepcopy(rng)
    rng.integers(2)  # a generator that is given moves on between fits
    make(copy.deepcopy(start)).close()  # what is refused is refused now
    # Single answers to similarities are not fitted, so that one wrong among three must not count.
    how: Average = "median" if similar else "mean"
    return repeated_adaptively(lambda: make(copy.deepcopy(start)), repeats, how=how)


def named_strategy(strategy: Any, owner: str) -> Any:
    """The strategy of this name, with its defaults; an object with a `plan` method as it is."""
    if hasattr(strategy, "plan") and not isinstance(strategy, type):
        return strategy
    check_choice(strategy, _NAMED, "strategy", owner)
    return _NAMED[strategy]()


def _with_roughness(
    strategy: Any,
    *,
    levels: int | None,
    unknown_noise: bool,
    row_noise: float | Literal["auto"] = 0.0,
) -> Any:
    """The strategy for answers on such a scale, with noise to be estimated if there may be any.

    `row_noise` is that of whole rows, from similarities; only Stratified is better for it. A
    strategy that says what it expects of the answers, and one of somebody's own, stays as it is.
    """
    faithful = getattr(strategy, "faithful", False)
    if not isinstance(strategy, Strategy) or faithful or strategy.roughness != EXACT:
        return strategy
    noise = row_noise if isinstance(strategy, Stratified) else 0.0
    changes: Any = {"levels": levels, "noise": "auto" if unknown_noise else noise}
    return replace(strategy, **changes)  # type: ignore[type-var]  # every strategy is a dataclass
