"""A pool of items and answers about some of them."""

import numpy as np
import pytest

from askmeans.fuzzy.items import as_items
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool


@pytest.fixture(scope="session")
def study():
    """Three Gaussians in four features, the features in very different scales; 24 labels known."""
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 3
    X = (4.0 * np.eye(4)[labels] + rng.normal(size=(120, 4))) * [1.0, 10.0, 0.1, 1.0]
    pool = Pool(as_items(X), 3, 2.0, np.random.default_rng(0))
    rows = np.arange(24)
    training = Training.of(rows, np.eye(3)[labels[rows]], np.ones(24), np.full(24, 5.0))
    return pool, training, np.eye(3)[labels]
