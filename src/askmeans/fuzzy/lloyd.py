"""Lloyd's iterations for fuzzy k-means, from several starts; memberships for given centres."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Items
from askmeans._util.checks import default_float_errors
from askmeans.fuzzy import kernels
from askmeans.fuzzy.arrays import even_rows, first_lowest
from askmeans.fuzzy.passes import ArrayEngine, Engine, Frame, Problem, RowThreads, read_only
from askmeans.fuzzy.seeding import canonical_order, draw_seeds, scalable_seeds, seeding_rows

# fuzzifier="auto" starts from the usual value, goes down by this factor and ends nearly hard.
_AUTO_HIGHEST, _AUTO_FACTOR, LOWEST_FUZZIFIER = 2.0, 0.7, 1.05
_ROUNDED = 1.0 + 1e-13  # an objective that is larger only by so much is not
_ON_SAMPLE = 1e-3  # tolerance on a sample, whose optimum is farther than that from that of all
_DEPTH = 6  # earlier points that are combined; 4 to 8 are alike in benchmarks/scale.py
_PLAIN = 2  # Lloyd steps before the first proposal, and after a refused one
_SINGULAR = 1e-10  # relative; smaller singular values are rounding
_EVERY = 8  # items: a first look at whether two clusters differ
_MERGED = 0.02  # difference of two clusters, as a share of their sum, below which they are one
_EQUAL: Floats = np.empty(0)  # weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The result of Lloyd's iterations, in the data's own coordinates.

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
        """The objective at the final centres."""
        return float(self.history[-1])


class Assignment:
    """Memberships and nearest centres of an array's items, computed for the final centres."""

    def __init__(self, X: Items, weights: Floats) -> None:
        self.X, self.weights = X, weights
        self.memberships: Items = np.empty((0, 0), X.dtype)
        self.labels = np.empty(0, np.int32)

    def __call__(self, centers: Floats, fuzzifier: float) -> float:
        """Compute them for these centres, in the items' float type; return the objective."""
        centers = centers.astype(self.X.dtype)
        self.memberships = np.empty((len(self.X), len(centers)), dtype=self.X.dtype)
        self.labels = np.empty(len(self.X), dtype=np.int32)
        frame = Frame.of_centers(centers)
        with RowThreads(len(self.X), centers.size) as threads:
            per_row = read_only(self.X), self.weights, self.memberships, self.labels
            inside = frame.inner(centers), frame.shift, frame.scale, fuzzifier
            objective = sum(threads.map(kernels.fill_assignment, per_row, *inside))
        return objective / frame.scale / frame.scale


@default_float_errors()
def fit(
    X: Items | Engine,
    n_clusters: int,
    *,
    fuzzifier: float | Literal["auto"],
    init: str | Items = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 1e-4,
    weights: Floats = _EQUAL,
    rng: np.random.Generator,
    mixing: bool = False,
    assignment: Assignment | None = None,
) -> Fit:
    """Iterate from `n_init` starts and keep the first with the lowest objective.

    `init` names a seeding or gives the centres to start from. With fuzzifier "auto" the first try
    is the bound above which all centres may fall into one (fuzzifier_bound), at most 2; while
    clusters merge all the same, fuzzifier - 1 is multiplied by 0.7 and the fit is made again.
    X is an array, or an engine that has its own weights. `mixing` is Anderson's, see `Mixing`.

    With many rows, iterations over a random sample come first, and its best result is the start for
    all rows. `assignment` is called with the final centres; it saves the last pass for the
    objective.
    """
    with _as_engine(X, weights, n_clusters) as engine:
        fitting = _Fitting(engine, n_clusters, init, rng)
        options = _Options(max_iter=max_iter, tol=tol, mixing=mixing)
        with fitting.threads:
            return fitting.fit(fuzzifier, n_init, options, assignment)


@contextmanager
def _as_engine(X: Items | Engine, weights: Floats, n_centers: int) -> Iterator[Engine]:
    """An engine unchanged, or the engine of an array."""
    if not isinstance(X, np.ndarray):
        yield X
        return
    with RowThreads(len(X), n_centers * X.shape[1]) as threads:
        yield ArrayEngine(X, weights, threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """Parameters of the iterations."""

    max_iter: int
    tol: float
    mixing: bool
    fuzzifier: float = 2.0


class _Fitting:
    """One fit: the items, and the sample from which starts are drawn."""

    def __init__(
        self,
        engine: Engine,
        n_clusters: int,
        init: str | Items,
        rng: np.random.Generator,
    ) -> None:
        self.engine, self.n_clusters, self.init, self.rng = engine, n_clusters, init, rng
        n, d = engine.n_rows, engine.n_features
        rows = seeding_rows(n, d, n_clusters, rng)
        self.is_sampled = rows is not None
        if rows is None and isinstance(engine, ArrayEngine):
            self.threads, self.sample = RowThreads(1, 1), engine
        else:
            items, weights = engine.take(np.arange(n) if rows is None else rows)
            if not weights.any():
                weights = np.empty(0)  # few items have a positive weight, and none was drawn
            self.threads = RowThreads(len(items), n_clusters * d)
            self.sample = ArrayEngine(items, weights, self.threads)
        self.problem = Problem.of(engine, sample=self.sample.X if self.is_sampled else None)

    def fit(
        self,
        fuzzifier: float | Literal["auto"],
        n_init: int,
        options: _Options,
        assignment: Assignment | None,
    ) -> Fit:
        """The best of the starts; with "auto", at a smaller fuzzifier until no clusters merge."""
        if fuzzifier != "auto":
            return self._best(replace(options, fuzzifier=fuzzifier), n_init, assignment)
        alpha = max(LOWEST_FUZZIFIER, min(_AUTO_HIGHEST, fuzzifier_bound(self.problem)))
        while True:
            fitted = self._best(replace(options, fuzzifier=alpha), n_init)
            moving = options.tol > 0.0 and not fitted.converged  # clusters may still merge
            if alpha <= LOWEST_FUZZIFIER or not (fitted.merged or moving):
                break
            alpha = max(LOWEST_FUZZIFIER, 1.0 + _AUTO_FACTOR * (alpha - 1.0))
        if assignment is not None:
            assignment(fitted.centers, alpha)
        return fitted

    def _best(self, options: _Options, n_init: int, assignment: Assignment | None = None) -> Fit:
        """The best of the starts at this fuzzifier."""
        alpha = options.fuzzifier
        starts = self._starts(alpha, n_init)
        if self.is_sampled and isinstance(self.init, str):
            near = replace(self.problem, engine=self.sample)
            rough = replace(options, tol=max(options.tol, _ON_SAMPLE))
            # The objective of a single start on a sample is not needed.
            alone = (lambda _, __: np.nan) if len(starts) == 1 else None
            on_sample = [iterate(near, start, rough, alone) for start in starts]
            best = on_sample[first_lowest([run.objective for run in on_sample])]
            starts = [self.problem.frame.inner(best.centers)]
        # In single precision the rounded centres differ from those of the history.
        exact = assignment is not None and assignment.X.dtype == np.float64
        last = assignment if exact and len(starts) == 1 else None
        runs = [iterate(self.problem, start, options, last) for start in starts]
        # Starts with the same optimum differ in the order of its clusters, and by rounding.
        best = runs[first_lowest([run.objective for run in runs])]
        if assignment is not None and last is None:
            assignment(best.centers, alpha)
        if assignment is None:
            items, weights = self._few
            U = memberships(items, best.centers, alpha)
        else:
            U, weights = assignment.memberships[self._few_rows], assignment.weights
            weights = weights[self._few_rows] if weights.size else weights
        return replace(best, merged=merged_clusters(U, weights))

    @property
    def _few_rows(self) -> NDArray[np.intp]:
        """Enough rows to detect merged clusters."""
        return _sample_rows(self.engine.n_rows, self.n_clusters)

    @cached_property
    def _few(self) -> tuple[Items, Floats]:
        """These rows."""
        return self.engine.take(self._few_rows)

    def _starts(self, alpha: float, n_init: int) -> list[Floats]:
        """Starting centres, in inner coordinates."""
        if not isinstance(self.init, str):
            return [self.problem.frame.inner(self.init)]
        if self.init == "k-means||":
            drawn = (scalable_seeds(self.problem, self.n_clusters, self.rng) for _ in range(n_init))
            return [_one_hard_step(self.problem, seeds) for seeds in drawn]
        near = replace(self.problem, engine=self.sample)
        seeding = partial(
            draw_seeds, near, self.n_clusters, self._order, self.rng, how=self.init, fuzzifier=alpha
        )
        return [_one_hard_step(near, seeding()) for _ in range(n_init)]

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The canonical order of the sample."""
        return canonical_order(self.sample.X)


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


def objective(X: Items | Engine, centers: Items, fuzzifier: float, weights: Floats) -> float:
    """The objective at given centres, with closed-form memberships."""
    frame = Frame.of_centers(centers)
    with _as_engine(X, weights, len(centers)) as engine:
        problem = Problem(engine=engine, frame=frame, spread=1.0)
        return _pass(problem, frame.inner(centers), fuzzifier)[2] / frame.scale / frame.scale


@default_float_errors()
def fill(
    kernel: Callable[..., None],
    X: Items,
    centers: Items,
    out: NDArray[Any] | tuple[NDArray[Any], ...],
    *parameters: float,
) -> None:
    """Let the kernel write one row of `out`, which may be several arrays, per item."""
    frame = Frame.of_centers(centers)
    inner = frame.inner(centers)
    with RowThreads(len(X), centers.size) as threads:
        per_row = (read_only(X), *(out if isinstance(out, tuple) else (out,)))
        threads.map(kernel, per_row, inner, frame.shift, frame.scale, *parameters)


def iterate(
    problem: Problem,
    start: Floats,
    options: _Options,
    last: Callable[[Floats, float], float] | None = None,
) -> Fit:
    """Alternate equations (3) and (4) from these inner centres until they stop moving.

    With mixing, a proposal that raises the objective costs one pass: Lloyd's own step is taken
    instead, and the history repeats the objective. The final objective is that of `last`, or of one
    more pass.
    """
    frame, fuzzifier = problem.frame, options.fuzzifier
    centers = start
    history: list[float] = []
    converged = False
    mixed = Mixing()
    plain: Floats | None = None  # Lloyd's step, while a proposal is tried
    while not converged and len(history) < options.max_iter:
        moments, totals, objective = _pass(problem, centers, fuzzifier)
        objective = objective / frame.scale / frame.scale
        if plain is not None and not objective <= history[-1] * _ROUNDED:
            mixed.forget()
            centers, plain = plain, None
            history.append(history[-1])
            continue
        history.append(objective)
        # A cluster whose weights all vanish (fuzzifiers near 1) stays where it is.
        moved = np.divide(moments, totals[:, None], out=centers.copy(), where=totals[:, None] > 0.0)
        step = np.sqrt(np.square(moved - centers).sum(axis=1).max())
        converged = bool(step <= options.tol * problem.spread)
        proposal = None
        if options.mixing and not converged and len(history) < options.max_iter:
            proposal = mixed.propose(centers, moved)
        plain = None if proposal is None else moved
        centers = moved if proposal is None else proposal
    final = frame.outer(centers)
    if last is None:
        objective = _pass(problem, centers, fuzzifier)[2] / frame.scale / frame.scale
    else:
        objective = last(final, fuzzifier)
    return Fit(
        centers=final,
        fuzzifier=fuzzifier,
        history=np.array([*history, objective]),
        n_iter=len(history),
        converged=converged,
        merged=[],
    )


class Mixing:
    """Anderson mixing of the centres: a proposal for the next step from the last few.

    Lloyd's iterations are a fixed-point map. Near the optimum its steps shrink by a constant
    factor, so the last steps predict the limit: the combination of points whose steps cancel best
    (Anderson, 1965: Iterative procedures for nonlinear integral equations; Walker and Ni, 2011).
    A proposal may raise the objective. Lloyd's own step never does, so the caller keeps it.
    """

    def __init__(self) -> None:
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def propose(self, centers: Floats, moved: Floats) -> Floats | None:
        """Propose the next centres after Lloyd's step to `moved`; None to follow that step."""
        self._points.append(centers.ravel())
        self._steps.append((moved - centers).ravel())
        if len(self._points) <= _PLAIN:
            return None
        del self._points[: -_DEPTH - 1], self._steps[: -_DEPTH - 1]
        steps = np.diff(self._steps, axis=0).T
        points = np.diff(self._points, axis=0).T
        weights = np.linalg.lstsq(steps, self._steps[-1], rcond=_SINGULAR)[0]
        proposal: Floats = moved - ((points + steps) @ weights).reshape(moved.shape)
        return proposal if np.isfinite(proposal).all() else None

    def forget(self) -> None:
        """Restart after a refused proposal."""
        self._points.clear()
        self._steps.clear()


# ---- clusters that merge ------------------------------------------------------------------------
#
# Fuzzy k-means with a large fuzzifier can prefer all centres in one place, above all in many
# dimensions, where distances differ little. That is the model's own optimum, not a failed search.


def merged_clusters(memberships: NDArray[np.floating], weights: Floats) -> list[tuple[int, int]]:
    """Pairs of clusters with equal memberships, the lower number first.

    Two clusters count as merged if the sum of absolute differences of their memberships is less
    than `_MERGED` times the sum of both.
    """
    columns = np.ascontiguousarray(
        (memberships * weights[:, None] if weights.size else memberships).T
    )
    sizes = columns.sum(axis=1)
    merged = []
    for j in range(len(sizes) - 1):
        others = np.arange(j + 1, len(sizes))
        # Sums over all items, or over some, differ less: they separate most clusters.
        for some in (sizes[:, None], columns[:, ::_EVERY], columns):
            distances = np.abs(some[others] - some[j]).sum(axis=1)
            others = others[distances < _MERGED * (sizes[j] + sizes[others])]
        merged += [(j, int(other)) for other in others]
    return merged


def fuzzifier_bound(problem: Problem) -> float:
    """The smallest fuzzifier at which all centres in the mean of the data are a stable solution.

    With lambda the largest eigenvalue of the mean of z z' / |z|^2, z = x - mean, the bound is
    1 / (1 - 2 lambda), and infinite for lambda >= 1/2 (Yu, Cheng and Huang, 2004: Analysis of the
    weighting exponent in the FCM). Items in d directions alike have lambda = 1 / d, so the bound
    is d / (d - 2): in many dimensions only nearly hard clusters are safe.
    """
    engine = problem.engine
    items, weights = engine.take(_sample_rows(engine.n_rows, engine.n_features))
    z = problem.frame.inner(items)
    weights = weights if weights.size else np.ones(len(items))
    lengths = np.linalg.norm(z, axis=1)
    weights = np.where(lengths > 0.0, weights, 0.0)
    if not weights.any():
        return np.inf
    directions = z / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    mean = (directions * weights[:, None]).T @ directions / weights.sum()
    largest = float(np.linalg.eigvalsh(mean)[-1])
    return np.inf if largest >= 0.5 else 1.0 / (1.0 - 2.0 * largest)


def _sample_rows(n_items: int, width: int) -> NDArray[np.intp]:
    """Enough rows to detect merged clusters: a matrix of them this wide takes at most 8 MiB."""
    return even_rows(n_items, max(100, min(10_000, (1 << 20) // width)))


def _one_hard_step(problem: Problem, seeds: Floats) -> Floats:
    """Seeds after one nearly hard step: the means of the items around them.

    An item on which a centre lies belongs to it alone, and at a large fuzzifier that outweighs all
    others: the centre would never leave it.
    """
    moments, totals, _ = _pass(problem, seeds, 1.1)
    return np.divide(moments, totals[:, None], out=seeds.copy(), where=totals[:, None] > 0.0)


def _pass(problem: Problem, centers: Floats, fuzzifier: float) -> tuple[Floats, Floats, float]:
    """One pass over all items; the blocks' sums are added in the order of the rows."""
    frame = problem.frame
    parts = problem.engine.map(kernels.accumulate, centers, frame.shift, frame.scale, fuzzifier)
    moments, totals, objectives = zip(*parts, strict=True)
    return np.sum(moments, axis=0), np.sum(totals, axis=0), sum(objectives)
