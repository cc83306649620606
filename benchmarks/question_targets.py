"""Clusterings that an expert may have in mind; most an unsupervised fit cannot know."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale

from askmeans.fuzzy import lloyd
from askmeans.fuzzy.model import closed_form_memberships

__all__ = ["TARGETS", "Target", "make_target", "paper_data"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the solver sees, what the expert knows, and whether that is hard."""

    X: Floats
    memberships: Floats
    hard: bool = False


def paper_data(
    sizes: list[int], rng: np.random.Generator, *, far: float = 1000.0, box: float = 60.0
) -> tuple[Floats, NDArray[np.intp]]:
    """The paper's synthetic data: Gaussians in ten dimensions, the first far from the others."""
    centers = rng.uniform(0.0, box, size=(len(sizes), 10))
    centers[0] = far + box
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return centers[labels] + 20.0 * rng.normal(size=(len(labels), 10)), labels


@cache
def _real(name: str) -> tuple[Floats, NDArray[np.intp]]:
    """A data set, standardised; digits without the pixels that never change."""
    load = {
        "iris": load_iris,
        "wine": load_wine,
        "cancer": load_breast_cancer,
        "digits": load_digits,
    }
    X, y = load[name](return_X_y=True)
    return scale(X[:, X.std(axis=0) > 0.0]), y


def _data(name: str, rng: np.random.Generator) -> tuple[Floats, NDArray[np.intp], int]:
    """Items, labels and the number of clusters."""
    X, y = paper_data([500] * 4, rng) if name == "synthetic" else _real(name)
    return X, y, int(y.max()) + 1


def fcm(X: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Memberships of a good fuzzy k-means optimum; softer than 2 where clusters would merge."""
    found = lloyd.fit(
        X, k, fuzzifier="auto", init="k-means++", n_init=5, max_iter=300, tol=1e-6,
        weights=np.empty(0), rng=rng,
    )  # fmt: skip
    return closed_form_memberships(X, found.centers, found.fuzzifier)


def mixture(X: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Posteriors of a Gaussian mixture."""
    seed = int(rng.integers(2**31))
    unit = 20.0 if np.abs(X).max() > 100.0 else 1.0  # the spread within the paper's clusters
    model = GaussianMixture(k, reg_covar=0.05, n_init=2, random_state=seed).fit(X / unit)
    found: Floats = model.predict_proba(X / unit)
    return found


def half_fcm(X: Floats, k: int, rng: np.random.Generator) -> Target:
    """Fuzzy k-means on all features; the solver sees a random half."""
    seen = rng.permutation(X.shape[1])[: (X.shape[1] + 1) // 2]
    return Target(X=X[:, np.sort(seen)], memberships=fcm(X, k, rng))


def half_mixture(X: Floats, k: int, rng: np.random.Generator) -> Target:
    """A mixture on all features; the solver sees a random half."""
    seen = rng.permutation(X.shape[1])[: (X.shape[1] + 1) // 2]
    return Target(X=X[:, np.sort(seen)], memberships=mixture(X, k, rng))


def weighed(X: Floats, k: int, rng: np.random.Generator) -> Target:
    """Fuzzy k-means of an expert who weighs the features 1 to 10."""
    weights = rng.permutation(np.geomspace(1.0, 10.0, X.shape[1]))
    return Target(X=X, memberships=fcm(X * weights, k, rng))


def local_optimum(X: Floats, k: int, rng: np.random.Generator) -> Target:
    """The worst of many fuzzy k-means optima, with clusters that are still apart."""
    worst = None
    for alpha in (1.5, 1.2, 1.05):
        runs = [
            lloyd.fit(
                X, k, fuzzifier=alpha, init=X[rng.choice(len(X), k, replace=False)], n_init=1,
                max_iter=300, tol=1e-6, weights=np.empty(0), rng=rng,
            )
            for _ in range(20)
        ]  # fmt: skip
        runs = [run for run in runs if not run.merged]
        if not runs:
            continue
        best = min(run.objective for run in runs)
        worst = max(runs, key=lambda run: run.objective)
        if worst.objective > 1.005 * best:
            break
    assert worst is not None
    return Target(X=X, memberships=closed_form_memberships(X, worst.centers, worst.fuzzifier))


def posteriors(X: Floats, k: int, rng: np.random.Generator) -> Target:
    """Posteriors of a Gaussian mixture of what the solver sees."""
    return Target(X=X, memberships=mixture(X, k, rng))


def archetypes(rng: np.random.Generator) -> Target:
    """Dirichlet mixtures of archetypes, seen with noise."""
    U = rng.dirichlet(np.full(4, 0.5), size=600)
    X = U @ rng.normal(size=(4, 8)) * 2.0 + 0.3 * rng.normal(size=(600, 8))
    return Target(X=X, memberships=U)


def moons(rng: np.random.Generator) -> Target:
    """Two moons; who lies between them belongs to both."""
    X, _ = make_moons(500, noise=0.1, random_state=int(rng.integers(2**31)))
    clean, side = make_moons(2000, noise=0.0, random_state=0)
    gaps = [
        np.sqrt(((X[:, None] - clean[side == j][::10][None]) ** 2).sum(-1)).min(1) for j in (0, 1)
    ]
    first = 1.0 / (1.0 + np.exp((gaps[0] - gaps[1]) / 0.1))
    return Target(X=X, memberships=np.column_stack([first, 1.0 - first]))


def faint(rng: np.random.Generator) -> Target:
    """Three Gaussians, one of which has so few items that beta is .02."""
    centers = 3.5 * np.eye(4)[:3]  # 5 apart
    sizes = np.array([745, 745, 10])
    X = np.repeat(centers, sizes, axis=0) + rng.normal(size=(1500, 4))
    D = ((X[:, None] - centers[None]) ** 2).sum(-1)
    logits = np.log(sizes) - 0.5 * D
    U = np.exp(logits - logits.max(axis=1, keepdims=True))
    return Target(X=X, memberships=U / U.sum(axis=1, keepdims=True))


_ON_DATA = {
    "half-fcm": half_fcm,
    "half-mix": half_mixture,
    "weighed": weighed,
    "optimum": local_optimum,
    "mixture": posteriors,
}
_ALONE: dict[str, Callable[[np.random.Generator], Target]] = {
    "archetypes": archetypes,
    "moons": moons,
    "beta=.02": faint,
}
DATA = ("iris", "wine", "cancer", "digits", "synthetic")
TARGETS = [f"{data}/{kind}" for data in DATA for kind in (*_ON_DATA, "labels")] + list(_ALONE)


@lru_cache(1)
def make_target(name: str, seed: int) -> Target:
    """The target of this name; the seed makes its chances, and a shuffle of the items."""
    rng = np.random.default_rng([seed, *name.encode()])
    if name in _ALONE:
        target = _ALONE[name](rng)
    else:
        data, kind = name.split("/")
        X, y, k = _data(data, rng)
        if kind == "labels":
            target = Target(X=X, memberships=np.eye(k)[y], hard=True)
        else:
            target = _ON_DATA[kind](X, k, rng)
    order = rng.permutation(len(target.X))
    return Target(X=target.X[order], memberships=target.memberships[order], hard=target.hard)
