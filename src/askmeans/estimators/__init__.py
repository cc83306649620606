"""Estimators in scikit-learn's manner: validate, compute, set attributes that end in `_`."""

from askmeans.estimators.active_fuzzy_kmeans import ActiveFuzzyKMeans
from askmeans.estimators.fuzzy_kmeans import FuzzyKMeans

__all__ = ["ActiveFuzzyKMeans", "FuzzyKMeans"]
