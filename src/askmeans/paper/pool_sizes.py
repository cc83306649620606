"""Sizes of the pool, and the smallest number of questions."""

import math
from dataclasses import dataclass
from typing import Literal

from askmeans.exceptions import BudgetError

__all__ = [
    "SMALLEST",
    "PoolSizes",
    "Route",
    "check_budget",
    "fewest_items",
    "least_questions",
    "pool_sizes",
]

Route = Literal["triplet", "pairwise", "jennrich"]

SMALLEST = 3  # items per cluster in a pool
_USUAL, _NOISY, _LARGEST = 6, 8, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSizes:
    """Numbers of items: compared at first, compared at most, and in triplets."""

    first: int
    largest: int
    corners: int  # 0 without triplets


def fewest_items(k: int) -> int:
    """The smallest number of comparable items whose similarities determine k clusters."""
    return 2 * k + 2


def least_questions(n_clusters: int, route: Route = "triplet") -> int:
    """Questions of the smallest pool, three items per cluster.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    route : {"triplet", "pairwise", "jennrich"}, default="triplet"
        How memberships are found (see `by_similarity`).

    Returns
    -------
    int
        Pairs and triplets.

    Examples
    --------
    >>> least_questions(3)  # 36 pairs and 20 triplets
    56
    """
    if route == "jennrich":
        return (2 * n_clusters) ** 3
    triplets = 0 if n_clusters == 2 or route == "pairwise" else math.comb(2 * n_clusters, 3)
    return math.comb(SMALLEST * n_clusters, 2) + triplets


def check_budget(budget: int | None, least: int, n_clusters: int) -> None:
    """Refuse a budget below the smallest pool."""
    if budget is not None and budget < least:
        raise BudgetError(
            f"The 'budget' parameter must be at least {least} for similarity questions with "
            f"{n_clusters} clusters, unless all answers are 0 or 1. Got {budget} instead."
        )


def pool_sizes(
    n_items: int,
    k: int,
    with_triplets: bool,
    noisy: bool,
    pool_size: int | None,
    budget: int | None,
) -> PoolSizes:
    """Sizes at which the first pairs take at most half of the budget, and triplets the rest.

    With noisy answers more triplets are asked, if the budget allows.
    """
    corners = 2 * k if with_triplets else 0
    first = pool_size or (_NOISY if noisy else _USUAL) * k
    largest = max(first, _LARGEST * k)
    if budget is not None:
        most = min(budget / 2, budget - math.comb(corners, 3))
        while pool_size is None and first > SMALLEST * k and math.comb(first, 2) > most:
            first -= 1
    if with_triplets and noisy:
        paid = budget is None or math.comb(first, 2) + math.comb(3 * k, 3) <= budget
        corners = 3 * k if paid else corners
    if budget is not None:
        while largest > first and math.comb(largest, 2) + math.comb(corners, 3) > budget:
            largest -= 1
    return PoolSizes(first=min(n_items, first), largest=min(n_items, largest), corners=corners)
