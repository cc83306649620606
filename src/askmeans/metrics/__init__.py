"""How good a clustering is: by itself, against a reference, and under the paper's assumptions.

A parameter that breaks its rule raises a ParameterError, arrays that do a DataError.
"""

from askmeans.metrics.agreement import (
    center_error,
    is_solution,
    match_clusters,
    matched_accuracy,
    membership_error,
)
from askmeans.metrics.assumptions import (
    beta,
    gamma,
    largest_inversion,
    rho_pure,
    rho_weight,
)
from askmeans.metrics.calibration import expected_calibration_error
from askmeans.metrics.choosing import choose_n_clusters
from askmeans.metrics.reliability import krippendorff_alpha
from askmeans.metrics.validity import (
    fuzzy_silhouette,
    partition_coefficient,
    partition_entropy,
    xie_beni,
)

__all__ = [
    "beta",
    "center_error",
    "choose_n_clusters",
    "expected_calibration_error",
    "fuzzy_silhouette",
    "gamma",
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
    "xie_beni",
]
