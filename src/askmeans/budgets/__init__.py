"""What it will cost: the paper's theorems as functions, and how far a budget goes."""

from askmeans.budgets.planning import Forecast, forecast, minimum_budget, plan_budget
from askmeans.budgets.prices import (
    noisy_repetitions,
    purity_bound,
    similarity_price,
    xie_beni_bound,
)
from askmeans.budgets.stopping import center_radii, is_enough
from askmeans.budgets.theorems import (
    Sizes,
    sequential_sizes,
    two_clusters_sizes,
    two_phase_sizes,
    variance_size,
)

__all__ = [
    "Forecast",
    "Sizes",
    "center_radii",
    "forecast",
    "is_enough",
    "minimum_budget",
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
