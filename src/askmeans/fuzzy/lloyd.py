"""Lloyd's iterations for fuzzy k-means, from several starts, and what follows from the centres."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askmeans.floats import default_float_errors
from askmeans.fuzzy import kernels
from askmeans.fuzzy.collapse import fuzzifier_bound, merged_clusters, sample_rows
from askmeans.fuzzy.problem import Frame, Problem
from askmeans.fuzzy.seeding import canonical_order, draw_seeds
from askmeans.fuzzy.threads import RowThreads
from askmeans.fuzzy.ties import first_lowest

__all__ = ["Fit", "distances", "fill", "fit", "memberships", "nearest_centers", "objective"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]

# fuzzifier="auto" starts from the usual value, goes down by this factor and ends nearly hard.
_AUTO_HIGHEST, _AUTO_FACTOR, _AUTO_LOWEST = 2.0, 0.7, 1.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What Lloyd's iterations found, in the data's own coordinates.

    `history` holds the objective at the start and after each iteration; `merged` the pairs of
    clusters that have become one.
    """

    centers: Floats
    fuzzifier: float
    history: Floats
    n_iter: int
    converged: bool
    merged: list[tuple[int, int]]

    @property
    @default_float_errors()
    def objective(self) -> float:
        """The objective at the centres found."""
        return float(self.history[-1])


@default_float_errors()
def fit(
    X: Items,
    n_clusters: int,
    *,
    fuzzifier: float | Literal["auto"],
    init: str | Items,
    n_init: int,
    max_iter: int,
    tol: float,
    weights: Floats,
    rng: np.random.Generator,
) -> Fit:
    """Iterate from `n_init` starts and keep the first with the lowest objective.

    `init` names a seeding or gives the centres to start from. With fuzzifier "auto" the first try
    is the bound above which all centres may fall into one (fuzzifier_bound), at most 2; while
    clusters merge all the same, fuzzifier - 1 is multiplied by 0.7 and the fit is made again.
    """
    X = _read_only(X)
    with RowThreads(len(X), n_clusters * X.shape[1]) as threads:
        problem = Problem.of(X, weights, threads)
        order = canonical_order(X) if isinstance(init, str) else np.empty(0, dtype=np.intp)
        rows = sample_rows(len(X), n_clusters)

        def best_at(alpha: float) -> Fit:
            if isinstance(init, str):
                seeding = partial(draw_seeds, problem, n_clusters, how=init, fuzzifier=alpha)
                starts = [_off_the_items(problem, seeding(order, rng)) for _ in range(n_init)]
            else:
                starts = [problem.frame.inner(init)]
            runs = [
                _iterate(problem, start, fuzzifier=alpha, max_iter=max_iter, tol=tol)
                for start in starts
            ]
            # Starts that lead to one optimum differ in the order of its clusters, and by rounding.
            best = runs[first_lowest([run.objective for run in runs])]
            sample = memberships(X[rows], best.centers, alpha)
            merged = merged_clusters(sample, weights[rows] if weights.size else weights)
            return replace(best, merged=merged)

        if fuzzifier != "auto":
            return best_at(fuzzifier)
        alpha = max(_AUTO_LOWEST, min(_AUTO_HIGHEST, fuzzifier_bound(problem)))
        while _too_soft(found := best_at(alpha), tol) and alpha > _AUTO_LOWEST:
            alpha = max(_AUTO_LOWEST, 1.0 + _AUTO_FACTOR * (alpha - 1.0))
        return found


def _too_soft(found: Fit, tol: float) -> bool:
    """Whether clusters have merged, or are still on their way when the iterations ended."""
    return bool(found.merged) or (tol > 0.0 and not found.converged)


def memberships(X: Items, centers: Items, fuzzifier: float) -> Items:
    """Closed-form memberships of items, in the items' own float type."""
    out = np.empty((len(X), len(centers)), dtype=X.dtype)
    fill(kernels.fill_memberships, X, centers, out, fuzzifier)
    return out


def distances(X: Items, centers: Items) -> Items:
    """Euclidean distances of items to centres, in the items' own float type."""
    out = np.empty((len(X), len(centers)), dtype=X.dtype)
    fill(kernels.fill_distances, X, centers, out)
    return out


def nearest_centers(X: Items, centers: Items) -> NDArray[np.int32]:
    """Number of each item's nearest centre, which is the cluster of its largest membership."""
    out = np.empty(len(X), dtype=np.int32)
    fill(kernels.fill_labels, X, centers, out)
    return out


def objective(X: Items, centers: Items, fuzzifier: float, weights: Floats) -> float:
    """The objective at given centres, with closed-form memberships."""
    frame = Frame.of_centers(centers)
    with RowThreads(len(X), centers.size) as threads:
        problem = Problem(
            X=_read_only(X), weights=weights, frame=frame, spread=1.0, threads=threads
        )
        return _pass(problem, frame.inner(centers), fuzzifier)[2] / frame.scale / frame.scale


@default_float_errors()
def fill(
    kernel: Callable[..., None], X: Items, centers: Items, out: NDArray[Any], *parameters: float
) -> None:
    """Let the kernel write one row of `out` per item."""
    frame = Frame.of_centers(centers)
    inner = frame.inner(centers)
    with RowThreads(len(X), centers.size) as threads:
        threads.map(kernel, (_read_only(X), out), inner, frame.shift, frame.scale, *parameters)


def _read_only(X: Items) -> Items:
    """The same items, not to be written to: kernels are compiled once for all, memory maps too."""
    view = np.asarray(X).view()
    view.flags.writeable = False
    return view


def _iterate(
    problem: Problem, start: Floats, *, fuzzifier: float, max_iter: int, tol: float
) -> Fit:
    """Alternate equations (3) and (4) from these inner centres until they move no more."""
    frame = problem.frame
    centers = start
    history = []
    converged = False
    while True:
        moments, totals, objective = _pass(problem, centers, fuzzifier)
        history.append(objective / frame.scale / frame.scale)
        if converged or len(history) > max_iter:
            break
        # A cluster whose weights all vanish (fuzzifiers near 1) stays where it is.
        moved = np.divide(moments, totals[:, None], out=centers.copy(), where=totals[:, None] > 0.0)
        step = np.sqrt(np.square(moved - centers).sum(axis=1).max())
        converged = bool(step <= tol * problem.spread)
        centers = moved
    return Fit(
        centers=frame.outer(centers),
        fuzzifier=fuzzifier,
        history=np.array(history),
        n_iter=len(history) - 1,
        converged=converged,
        merged=[],
    )


def _off_the_items(problem: Problem, seeds: Floats) -> Floats:
    """Seeds after one nearly hard step: the means of the items around them.

    An item on which a centre lies belongs to it alone, and at a large fuzzifier that outweighs all
    others: the centre would never leave it.
    """
    moments, totals, _ = _pass(problem, seeds, 1.1)
    return np.divide(moments, totals[:, None], out=seeds.copy(), where=totals[:, None] > 0.0)


def _pass(problem: Problem, centers: Floats, fuzzifier: float) -> tuple[Floats, Floats, float]:
    """One pass over all items; the threads' sums are added in the order of the rows."""
    frame = problem.frame
    parts = problem.threads.map(
        kernels.accumulate,
        (problem.X, problem.weights),
        centers,
        frame.shift,
        frame.scale,
        fuzzifier,
    )
    moments, totals, objectives = zip(*parts, strict=True)
    return np.sum(moments, axis=0), np.sum(totals, axis=0), sum(objectives)
