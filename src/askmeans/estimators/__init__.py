"""Estimators in scikit-learn's manner: validate, compute, set attributes that end in `_`."""

from askmeans.estimators.fuzzy_kmeans import FuzzyKMeans

__all__ = ["FuzzyKMeans"]
