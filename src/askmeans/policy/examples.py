"""Examples: rows with known memberships that are not items, such as names of groups.

Models learn from examples beside the answers. Examples are weaker evidence: how much they count
follows from how well the answers agree with what models expect that learn from examples alone.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats

_TRUSTED = 0.9  # prior probability that the examples of a group are right
_MOSTLY = 0.5  # share of an example from which on it belongs to a cluster
_LEAST = 1e-3  # smallest probability


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Rows that are not items, with their memberships."""

    X: Floats
    Y: Floats  # (m, n_clusters)
    weight: Floats  # of each beside an answer

    def __len__(self) -> int:
        return len(self.X)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which clusters have an example."""
        return np.asarray(self.Y.max(axis=0, initial=0.0) > _MOSTLY)

    @cached_property
    def digest(self) -> bytes:
        """A digest of the rows and their memberships."""
        parts = b"".join(part.tobytes() for part in (self.X, self.Y, self.weight))
        return hashlib.blake2b(parts, digest_size=16).digest()

    @property
    def mass(self) -> Floats:
        """The weight of the examples of each cluster."""
        return np.asarray(self.weight @ self.Y)

    def of_clusters(self, clusters: NDArray[np.intp], n_clusters: int) -> "Examples | None":
        """Those of some of the clusters, in a table of so many; None where there are none."""
        kept = self.Y[:, clusters[clusters < self.Y.shape[1]]].sum(axis=1) > _MOSTLY
        Y = np.pad(self.Y[kept], ((0, 0), (0, n_clusters - self.Y.shape[1])))
        return Examples(X=self.X[kept], Y=Y, weight=self.weight[kept]) if len(Y) else None


def example_weights(expected: Floats, answers: Floats, covered: NDArray[np.bool_]) -> Floats:
    """How much the examples of each cluster count, from 0 to 1, by the answers (NaN: none).

    The posterior probability that all examples are right, times that of those of the cluster: what
    the examples alone let expect of answered items is compared with even shares. Items of clusters
    that no example covers say nothing about the others' examples.
    """
    n_clusters = answers.shape[1]
    uncovered = np.nansum(answers[:, ~covered], axis=1) > _MOSTLY
    expected, answers = expected[~uncovered], answers[~uncovered]
    even = 1.0 / n_clusters
    P = np.clip(expected, _LEAST, 1.0 - _LEAST)
    own = np.nan_to_num(answers * np.log(P / even))
    others = np.nan_to_num((1.0 - answers) * np.log((1.0 - P) / (1.0 - even)))
    return _posterior(own.sum()) * _posterior((own + others).sum(axis=0))


def _posterior(gain: Floats) -> Floats:
    """The probability that examples are right, given the gain in log likelihood."""
    odds = np.log(_TRUSTED / (1.0 - _TRUSTED)) + np.clip(gain, -50.0, 50.0)
    return np.asarray(1.0 / (1.0 + np.exp(-odds)))
