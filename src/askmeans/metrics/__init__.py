"""How good a clustering is: by itself, against a reference, and under the paper's assumptions."""

from askmeans.metrics.agreement import (
    center_error,
    is_solution,
    match_clusters,
    matched_accuracy,
    membership_error,
)
from askmeans.metrics.assumptions import (
    are_centers_consistent,
    beta,
    gamma,
    is_monotone,
    largest_inversion,
    rho_pure,
    rho_weight,
)
from askmeans.metrics.calibration import expected_calibration_error
from askmeans.metrics.choosing import choose_n_clusters
from askmeans.metrics.reliability import annotator_alphas, krippendorff_alpha
from askmeans.metrics.silhouettes import fuzzy_silhouette, simplified_silhouette
from askmeans.metrics.validity import (
    fukuyama_sugeno,
    partition_coefficient,
    partition_entropy,
    xie_beni,
)

__all__ = [
    "annotator_alphas",
    "are_centers_consistent",
    "beta",
    "center_error",
    "choose_n_clusters",
    "expected_calibration_error",
    "fukuyama_sugeno",
    "fuzzy_silhouette",
    "gamma",
    "is_monotone",
    "is_solution",
    "krippendorff_alpha",
    "largest_inversion",
    "match_clusters",
    "matched_accuracy",
    "membership_error",
    "partition_coefficient",
    "partition_entropy",
    "rho_pure",
    "rho_weight",
    "simplified_silhouette",
    "xie_beni",
]
