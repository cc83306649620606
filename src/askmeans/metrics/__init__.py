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
from askmeans.metrics.validity import partition_coefficient, xie_beni

__all__ = [
    "beta",
    "center_error",
    "choose_n_clusters",
    "expected_calibration_error",
    "gamma",
    "is_solution",
    "largest_inversion",
    "match_clusters",
    "matched_accuracy",
    "membership_error",
    "partition_coefficient",
    "rho_pure",
    "rho_weight",
    "xie_beni",
]
