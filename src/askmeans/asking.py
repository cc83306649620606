"""How ask=, levels=, strategy= and budget= become a plan: for estimators and sessions alike."""

from typing import Any

import numpy as np

from askmeans.checks import check_choice, check_fuzzifier, check_number
from askmeans.exceptions import ParameterError
from askmeans.plans.answers import Plan
from askmeans.wrappers import by_similarity

__all__ = ["ASK", "check_asking", "make_plan"]

ASK = ("membership", "similarity", "pairwise")


def check_asking(
    owner: str, *, n_clusters: Any, ask: Any, budget: Any, levels: Any, fuzzifier: Any
) -> None:
    """Refuse parameters that break their rules, before the data is looked at."""
    check_number(n_clusters, "n_clusters", owner, integer=True, minimum=1)
    check_fuzzifier(fuzzifier, owner, strict=False)
    check_choice(ask, ASK, "ask", owner)
    if budget is not None:
        check_number(budget, "budget", owner, integer=True, minimum=1)
    if levels is not None:
        check_number(levels, "levels", owner, integer=True, minimum=2)
        if ask == "membership":
            raise ParameterError(
                f"The 'levels' parameter of {owner} must be None for membership questions, for "
                f"now. Got {levels!r} instead; the answers are taken as they come."
            )


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
) -> Plan:
    """The plan of a strategy, its questions translated where similarities are asked."""
    plan: Plan = strategy.plan(items, n_clusters, fuzzifier=fuzzifier, rng=rng)
    if ask == "membership" or n_clusters == 1:
        return plan
    return by_similarity(
        plan,
        len(items),
        n_clusters,
        rng=rng,
        route="triplet" if ask == "similarity" else "pairwise",
        rough=levels is not None,
        budget=budget,
    )
