"""Figures are drawn without a screen, and closed after each test."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from askmeans import FuzzyKMeans


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def blobs():
    """Three well separated clouds in five features, the first one the most spread."""
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0, 0, 0, 0], [20, 0, 0, 0, 0], [0, 10, 0, 0, 0]], dtype=float)
    return np.repeat(centers, 40, axis=0) + rng.normal(size=(120, 5))


@pytest.fixture(scope="module")
def model(blobs):
    return FuzzyKMeans(n_clusters=3, random_state=0).fit(blobs)
