"""What fuzzy k-means finds in data that everybody knows."""

import pytest
from similarity_runs import fuzzy
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="session")
def targets():
    """What fuzzy k-means finds in data that everybody knows."""
    scale = StandardScaler().fit_transform
    blobs = {k: make_blobs(150, centers=k, random_state=1)[0] for k in (3, 5, 8, 10)}
    return {
        "iris": fuzzy(load_iris().data, 3),
        "wine": fuzzy(scale(load_wine().data), 3),
        "breast cancer": fuzzy(scale(load_breast_cancer().data), 2)[::4],
    } | {f"blobs {k}": fuzzy(X, k) for k, X in blobs.items()}
