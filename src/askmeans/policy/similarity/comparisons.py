"""Comparisons of items, and the rows of memberships that explain them.

Rules of this file:
- Two items are as similar as the inner product of their rows, three as the sum of products of three
  entries; an item is more like another where that product is larger.
- An answer on a scale has a rounding error; a relative answer only implies a margin.
- Rows lie on the simplex, with a prior (`Expected`).
- Answers with large residuals are downweighted, so that a slip does not distort the rows.
"""

from dataclasses import dataclass, replace

import numpy as np

from askmeans._util.arrays import Bools, Floats, Rows
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.queries import Answers, PairQueries, RelativeQueries, TripletQueries
from askmeans.queries.values import rounding_noise

# Chosen on hidden features of Iris, Wine and Breast Cancer: relative answers there separate groups,
# and contain little about degrees.
MARGIN = 0.98  # smallest difference of similarities after a decided relative answer
TIE = 0.25  # largest difference after a tie
_MISFIT_SCALE = 0.3  # residual at which an answer has a quarter of its weight
_STEPS, _ROUNDS = 150, 3
_MIN_SOFT_SHARE = 0.25  # share of answers other than 0 and 1 from which on degrees are meant
_MIN_REPEATS = 5  # repeated answers from which on their spread is estimated
_GRIDS = (2, 3, 5, 6, 7, 9, 11, 21, 101)  # usual numbers of points of a scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """Answers about two and three items; places are rows of `items`, in the order first asked."""

    items: Rows
    pairs: Rows  # (n, 2)
    pair_value: Floats
    pair_annotator: Rows  # indices of `annotators`
    annotators: tuple[str, ...]
    triplets: Rows  # (n, 3)
    triplet_value: Floats
    relative: Rows  # (n, 3): is the first more like the second, or like the third?
    relative_value: Floats

    def __len__(self) -> int:
        return len(self.pairs) + len(self.triplets) + len(self.relative)

    def pair_residuals(self, U: Floats) -> Floats:
        """The similarity of each pair under these rows, minus the answer."""
        a, b = U[self.pairs[:, 0]], U[self.pairs[:, 1]]
        return np.asarray((a * b).sum(axis=1) - self.pair_value)

    def without(self, outside: Bools) -> "Comparisons":
        """The comparisons in which none of these items occurs; `items` stay the same."""
        pairs = ~outside[self.pairs].any(axis=1)
        triplets, relative = (~outside[t].any(axis=1) for t in (self.triplets, self.relative))
        return replace(
            self, pairs=self.pairs[pairs], pair_value=self.pair_value[pairs],
            pair_annotator=self.pair_annotator[pairs],
            triplets=self.triplets[triplets], triplet_value=self.triplet_value[triplets],
            relative=self.relative[relative], relative_value=self.relative_value[relative],
        )  # fmt: skip

    def rounding(self, levels: int | None) -> float:
        """Standard deviation of the rounding to a scale of this many points.

        It is smaller if few answers are soft, since answers at the ends are exact.
        """
        if levels is None:
            return 0.0
        return min(1.0, self.soft_share / _MIN_SOFT_SHARE) * rounding_noise(levels)

    @property
    def soft_share(self) -> float:
        """The share of answers about pairs and triplets that are neither 0 nor 1."""
        values = np.concatenate([self.pair_value, self.triplet_value])
        return float(((values > 0.0) & (values < 1.0)).mean()) if len(values) else 0.0

    @property
    def is_soft(self) -> bool:
        """Whether many answers are neither 0 nor 1, so that few of them separate items."""
        return self.soft_share >= _MIN_SOFT_SHARE

    @property
    def spread(self) -> float:
        """Standard deviation of answers to the same pair; 0 with too few repeats."""
        pairs = np.sort(self.pairs, axis=1)
        _, number, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        freedom = int((counts - 1).sum())
        if freedom < _MIN_REPEATS:
            return 0.0
        number = number.ravel()
        means = np.bincount(number, self.pair_value) / counts
        return float(np.sqrt(np.square(self.pair_value - means[number]).sum() / freedom))

    @property
    def levels(self) -> int | None:
        """The number of points of the coarsest usual scale that has all answers; None without."""
        values = np.concatenate([self.pair_value, self.triplet_value])
        for points in _GRIDS:
            steps = values * (points - 1)
            if np.abs(steps - np.round(steps)).max(initial=0.0) < 1e-9:
                return points
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The prior: expected rows, and the variance of an entry around them."""

    rows: Floats
    variance: Floats  # one per row


def comparisons_of(answers: Answers) -> Comparisons:
    """The answers about two and three items, without "cannot say"."""
    by_kind: dict[type, tuple[list[Rows], list[Floats]]] = {
        kind: ([], []) for kind in (PairQueries, TripletQueries, RelativeQueries)
    }
    mentioned, names = [], []
    for batch in answers.batches:
        if type(batch.queries) not in by_kind:
            continue
        answered = ~np.isnan(batch.values)
        table = batch.queries.item_table[answered].astype(np.intp)
        mentioned.append(table.ravel())
        by_kind[type(batch.queries)][0].append(table)
        by_kind[type(batch.queries)][1].append(np.clip(batch.values[answered], 0.0, 1.0))
        if isinstance(batch.queries, PairQueries):
            names += [batch.annotator_names[row] for row in np.flatnonzero(answered)]
    every = np.concatenate(mentioned or [np.empty(0, dtype=np.intp)])
    unique, first = np.unique(every, return_index=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    tables = {}
    for kind, width in ((PairQueries, 2), (TripletQueries, 3), (RelativeQueries, 3)):
        parts, values = by_kind[kind]
        table = np.concatenate(parts or [np.empty((0, width), dtype=np.intp)])
        tables[kind] = rank[np.searchsorted(unique, table)], np.concatenate(values or [np.empty(0)])
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return Comparisons(
        items=unique[order].astype(np.intp),
        pairs=tables[PairQueries][0], pair_value=tables[PairQueries][1],
        pair_annotator=np.array([number[name] for name in names], dtype=np.intp),
        annotators=tuple(number),
        triplets=tables[TripletQueries][0], triplet_value=tables[TripletQueries][1],
        relative=tables[RelativeQueries][0], relative_value=tables[RelativeQueries][1],
    )  # fmt: skip


class _Loss:
    """Squared differences of rows from the answers, and from the prior."""

    def __init__(
        self, comparisons: Comparisons, expected: Expected, levels: int | None, noise: float
    ) -> None:
        self.comparisons, self.expected = comparisons, expected
        self.variance = max(comparisons.rounding(levels) ** 2 + noise**2, 1e-10)
        self.pull = self.variance / np.maximum(expected.variance, 1e-10)
        values = comparisons.pair_value, comparisons.triplet_value, comparisons.relative_value
        self.weights = [np.ones(len(value)) for value in values]
        sides = [comparisons.relative_value > 0.5, comparisons.relative_value < 0.5]
        self.low = np.select(sides, [MARGIN, -1.0], -TIE)
        self.high = np.select(sides, [1.0, -MARGIN], TIE)

    def residuals(self, U: Floats) -> list[Floats]:
        """The difference of each pair, triplet and relative answer from its interval."""
        comparisons = self.comparisons
        triplets, relative = np.empty(0), np.empty(0)
        if len(comparisons.triplets):
            a, b, c = (U[comparisons.triplets[:, column]] for column in range(3))
            triplets = (a * b * c).sum(axis=1) - comparisons.triplet_value
        if len(comparisons.relative):
            a, b, c = (U[comparisons.relative[:, column]] for column in range(3))
            relative = _outside((a * (b - c)).sum(axis=1), self.low, self.high)
        return [comparisons.pair_residuals(U), triplets, relative]

    def gradient(self, U: Floats) -> Floats:
        """The gradient of half the loss."""
        comparisons = self.comparisons
        G = self.pull[:, None] * (U - self.expected.rows)
        pairs, triplets, relative = (
            w * r for w, r in zip(self.weights, self.residuals(U), strict=True)
        )
        i, j = comparisons.pairs.T
        np.add.at(G, i, pairs[:, None] * U[j])
        np.add.at(G, j, pairs[:, None] * U[i])
        if len(triplets):
            i, j, h = comparisons.triplets.T
            for one, two, three in ((i, j, h), (j, i, h), (h, i, j)):
                np.add.at(G, one, triplets[:, None] * U[two] * U[three])
        if len(relative):
            i, j, h = comparisons.relative.T
            np.add.at(G, i, relative[:, None] * (U[j] - U[h]))
            np.add.at(G, j, relative[:, None] * U[i])
            np.add.at(G, h, -relative[:, None] * U[i])
        return G

    def step(self) -> Floats:
        """A step length for each row: the inverse of a bound of its curvature."""
        curvature = self.pull.copy()
        comparisons = self.comparisons
        tables = comparisons.pairs, comparisons.triplets, comparisons.relative
        for table, weight in zip(tables, self.weights, strict=True):
            for column in range(table.shape[1]):
                np.add.at(curvature, table[:, column], weight * table.shape[1])
        steps: Floats = 1.0 / np.maximum(curvature, 1e-12)[:, None]
        return steps

    def downweight(self, U: Floats) -> None:
        """Reduce the weight of unexplained answers (Geman and McClure)."""
        far = max(_MISFIT_SCALE, 3.0 * np.sqrt(self.variance))
        self.weights = [np.square(1.0 / (1.0 + np.square(r / far))) for r in self.residuals(U)]


def fit_rows(
    comparisons: Comparisons,
    expected: Expected,
    start: Floats,
    *,
    levels: int | None,
    noise: float = 0.0,
) -> tuple[Floats, Floats]:
    """Fit the rows of all compared items; also return the known share of each entry, 0 to 1."""
    loss = _Loss(comparisons, expected, levels, noise)
    U = start.copy()
    for round_ in range(_ROUNDS):
        if round_:
            loss.downweight(U)
        step = loss.step()
        V, speed = U.copy(), 1.0
        for _ in range(_STEPS):  # Nesterov's steps, restarted when they overshoot
            new = onto_simplex(V - step * loss.gradient(V))
            faster = (1.0 + np.sqrt(1.0 + 4.0 * speed**2)) / 2.0
            change = new - U
            if float(((V - new) * change).sum()) > 0.0:
                faster = 1.0
                V = new
            else:
                V = new + (speed - 1.0) / faster * change
            U, speed = new, faster
            if np.abs(change).max(initial=0.0) < 1e-10:
                break
    return U, _explained_share(comparisons, U, loss)


def _explained_share(comparisons: Comparisons, U: Floats, loss: _Loss) -> Floats:
    """The share of each entry's variance that answers explain, given the other rows."""
    m, k = U.shape
    H = np.zeros((m, k, k))
    i, j = comparisons.pairs.T
    w = loss.weights[0][:, None, None]
    np.add.at(H, i, w * U[j][:, :, None] * U[j][:, None, :])
    np.add.at(H, j, w * U[i][:, :, None] * U[i][:, None, :])
    if len(comparisons.triplets):
        w, (i, j, h) = loss.weights[1][:, None, None], comparisons.triplets.T
        for one, two, three in ((i, j, h), (j, i, h), (h, i, j)):
            product = U[two] * U[three]
            np.add.at(H, one, w * product[:, :, None] * product[:, None, :])
    if len(comparisons.relative):
        w, (i, j, h) = loss.weights[2][:, None, None], comparisons.relative.T
        product = U[j] - U[h]
        np.add.at(H, i, w * product[:, :, None] * product[:, None, :])
    across = np.eye(k) - 1.0 / k  # rows sum to one
    pull = np.maximum(loss.pull, 1e-9)[:, None, None]
    # The variance within the simplex; the direction along which sums change has none.
    left = np.linalg.inv(across @ H @ across / pull + np.eye(k))
    left = np.einsum("gh,mhi,ig->mg", across, left, across)
    known: Floats = 1.0 - left / (1.0 - 1.0 / k)
    return known


def _outside(value: Floats, low: Floats, high: Floats) -> Floats:
    """The distance of each value from its interval, negative below it."""
    return np.asarray(np.maximum(value - high, 0.0) - np.maximum(low - value, 0.0))
