"""Time per iteration beside scikit-learn's KMeans and the fuzzy peers: ratios, in one run.

Every method starts from the same centres and makes a few and then many iterations; the difference
is the iterations' own time, without set-up. Methods take turns, the best of several rounds counts.
"""

import time
import warnings
from collections.abc import Callable

import numpy as np
from fcmeans import FCM
from numpy.typing import NDArray
from skfuzzy.cluster import cmeans
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from askmeans import FuzzyKMeans
from askmeans.fuzzy import closed_form_memberships

Floats = NDArray[np.float64]
Method = Callable[[Floats, Floats, int], object]

SIZES = ((100_000, 16, 8), (1_000_000, 10, 4))
FUZZIFIERS = (2.0, 1.7)
ROUNDS = 7


def k_means(X: Floats, start: Floats, n_iter: int) -> object:
    """The yardstick: hard k-means, Lloyd."""
    return KMeans(len(start), init=start, n_init=1, max_iter=n_iter, tol=0, algorithm="lloyd").fit(
        X
    )


def ours(fuzzifier: float) -> Method:
    """FuzzyKMeans, with its final memberships and labels, as a user gets it."""

    def fit(X: Floats, start: Floats, n_iter: int) -> object:
        model = FuzzyKMeans(len(start), fuzzifier=fuzzifier, init=start, max_iter=n_iter, tol=0)
        return model.fit(X)

    return fit


def fuzzy_c_means(fuzzifier: float, U: Floats) -> Method:
    """The peer fuzzy-c-means 2.3.1, from the memberships that belong to the start."""

    class SameStart(FCM):  # type: ignore[misc]  # the peer ships no types
        def _init_u(self, X: Floats) -> None:  # noqa: ARG002 - the peer's signature
            self.u = U

    def fit(X: Floats, start: Floats, n_iter: int) -> object:
        return SameStart(n_clusters=len(start), m=fuzzifier, max_iter=n_iter, error=1e-9).fit(X)

    return fit


def scikit_fuzzy(fuzzifier: float, U: Floats) -> Method:
    """The peer scikit-fuzzy 0.5.0, from the memberships that belong to the start."""

    def fit(X: Floats, start: Floats, n_iter: int) -> object:
        return cmeans(X.T, len(start), fuzzifier, error=0.0, maxiter=n_iter, init=U.T.copy())

    return fit


def per_iteration(methods: dict[str, Method], X: Floats, start: Floats) -> dict[str, float]:
    """Seconds per iteration of each method."""
    best: dict[tuple[str, int], float] = {}
    for _ in range(ROUNDS):
        for name, method in methods.items():
            # The peers are slow: fewer iterations and rounds measure them well enough.
            for n_iter in (2, 4) if name in ("fuzzy-c-means", "scikit-fuzzy") else (3, 23):
                if best.get((name, n_iter), 0.0) > 10.0:
                    continue
                began = time.perf_counter()
                method(X, start, n_iter)
                spent = time.perf_counter() - began
                best[name, n_iter] = min(spent, best.get((name, n_iter), np.inf))
    seconds = {}
    for name in methods:
        (few, t_few), (many, t_many) = sorted((n, t) for (m, n), t in best.items() if m == name)
        seconds[name] = (t_many - t_few) / (many - few)
    return seconds


def main() -> None:
    """Print one row for each size, number of threads and fuzzifier."""
    warnings.simplefilter("ignore")  # ending after few iterations is meant
    print("Time per iteration, as a multiple of scikit-learn's KMeans (Lloyd); float64.")
    print("| items | features | clusters | threads | fuzzifier | askmeans | fuzzy-c-means "
          "| scikit-fuzzy | faster than fuzzy-c-means |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for n, d, k in SIZES:
        rng = np.random.default_rng(0)
        X = rng.random((n, d))  # no structure: KMeans goes on moving, and is never done early
        start = X[:k].copy()
        for n_threads in (1, 2):
            for fuzzifier in FUZZIFIERS:
                U = closed_form_memberships(X, start, fuzzifier)
                methods = {
                    "KMeans": k_means,
                    "askmeans": ours(fuzzifier),
                    "fuzzy-c-means": fuzzy_c_means(fuzzifier, U),
                    "scikit-fuzzy": scikit_fuzzy(fuzzifier, U),
                }
                with threadpool_limits(n_threads):
                    t = per_iteration(methods, X, start)
                print(
                    f"| {n:,} | {d} | {k} | {n_threads} | {fuzzifier} "
                    f"| {t['askmeans'] / t['KMeans']:.2f} | {t['fuzzy-c-means'] / t['KMeans']:.1f} "
                    f"| {t['scikit-fuzzy'] / t['KMeans']:.1f} "
                    f"| {t['fuzzy-c-means'] / t['askmeans']:.0f}x |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
