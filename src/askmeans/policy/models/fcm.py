"""Fuzzy k-means (FCM) as a model: the unsupervised fit, and fits that answers seed and scale."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, minimize

from askmeans._util.arrays import Floats
from askmeans.fuzzy.items import ItemSet
from askmeans.fuzzy.model import closed_form_memberships, memberships_from_distances
from askmeans.policy.models.linear import softmax
from askmeans.policy.models.training import (
    Fitted,
    InCommonScale,
    Predict,
    Training,
    cross_validated,
)
from askmeans.policy.pool import Pool, quick_distances

# Steps are as few as serve: what is compared is as far from its optimum in every fold.
_SEARCH_STEPS, _ALL_STEPS = 10, 20  # of Lloyd's iterations: for each fuzzifier, and with all items
_FOLD_STEPS = 10  # the same in each fold
_GRID = 11  # fuzzifiers that are compared at once: three grids determine it within 3 %
# Answers that the fuzzifier of the unsupervised fit counts for. Of six tables (two seeds, 10 to 50
# answers) the error is .133 with 5, .129 with 1 and .128 with 0, the log loss .474, .489 and .486.
_PRIOR = 5.0
_METRIC_STEPS = 5  # of Lloyd's iterations with learned scales
_ROUNDS = 2  # of scales and centres in turn
_STEPS, _FURTHER_STEPS = 10, 6  # of L-BFGS for the scales; of one fold's that goes on from there


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """Memberships by the closed form."""

    centers: Floats
    fuzzifier: float

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return closed_form_memberships(X, self.centers, self.fuzzifier)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedScale:
    """The closed form in a metric; theta holds log weights and log 1 / (alpha - 1)."""

    centers: Floats
    theta: Floats

    def __call__(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        weights = np.exp(self.theta[:-1] / 2)
        alpha = 1.0 + float(np.exp(-self.theta[-1]))
        D = quick_distances(Z * weights, self.centers * weights)
        return memberships_from_distances(D, alpha)


def name_clusters(U: Floats, values: Floats) -> NDArray[np.intp]:
    """Which column of U each cluster is, by the values of answers (NaN where there is none)."""
    k = U.shape[1]
    # An answer counts by how far it is from an even row; ties keep the order.
    known = np.where(np.isnan(values), 0.0, values - 1.0 / k)
    agreement = known.T @ U
    agreement += 1e-9 * np.eye(k)
    return np.asarray(linear_sum_assignment(agreement, maximize=True)[1], dtype=np.intp)


def fcm(pool: Pool, training: Training) -> Fitted:
    """The fit without questions: its clusters named, its fuzzifier fitted, by the answers."""
    forms = _ClosedForms(training, pool.unsupervised_distances)
    return _refinable("fcm", pool.unsupervised_fit, forms)


def fcm_scaled(pool: Pool, training: Training, solution: tuple[Floats, float]) -> Fitted:
    """The fit without questions in the common scale."""
    forms = _ClosedForms(training, quick_distances(pool.Z, solution[0]))
    names, fuzzifier = forms.names(solution[1])
    theta = np.append(np.zeros(pool.Z.shape[1]), -np.log(fuzzifier - 1.0))
    return Fitted(
        name="fcm_scaled",
        pool=forms.memberships(names, fuzzifier),
        held_out=forms.held_out(solution[1]),
        predict=InCommonScale(
            scale=pool.scaled, model=LearnedScale(centers=solution[0][names], theta=theta)
        ),
    )


def seeded_fcm(pool: Pool, training: Training) -> Fitted:
    """The closed form at the optimum near the means of the answered items."""
    centers, fuzzifier = solution = seeded_centers(pool, training)
    narrow, few, middle = pool.narrow, pool.few, pool.narrow.middle
    forms = _ClosedForms(training, quick_distances(pool.X - middle, centers - middle))
    splits = training.splits()
    if splits:
        starts = np.stack([_start(pool, part) for _, part in splits])
        near = iterate(narrow.points[few], narrow.norms[few], starts, fuzzifier, _FOLD_STEPS)
        rows = training.rows
        forms.by_fold = _distances(narrow.points[rows], narrow.norms[rows], near).swapaxes(1, 2)
    return _refinable("seeded_fcm", solution, forms)


def seeded_centers(pool: Pool, training: Training) -> tuple[Floats, float]:
    """Lloyd's iterations from the means of answered items: the optimum that the expert means."""
    narrow, few, rows = pool.narrow, pool.few, training.rows
    alphas = np.array(sorted({pool.unsupervised_fit[1], 1.5, 1.2, 1.05}))
    start = np.repeat(_start(pool, training)[None], len(alphas), axis=0)
    candidates = iterate(narrow.points[few], narrow.norms[few], start, alphas, _SEARCH_STEPS)
    D = _distances(narrow.points[rows], narrow.norms[rows], candidates)
    U = _powers(D, alphas)[0].swapaxes(1, 2)
    off = np.where(training.known, np.abs(U - training.Y), 0.0)
    best = int(np.argmin((training.sample_weight[:, None] * off).sum(axis=(1, 2))))
    near, alpha = candidates[best : best + 1], float(alphas[best])
    near = iterate(narrow.points, narrow.norms, near, alpha, _ALL_STEPS)
    # Once more with all features.
    W = _powers(_distances(narrow.points, narrow.norms, near), np.array([alpha]))[1][0]
    return (W @ pool.X) / np.maximum(W.sum(axis=1), 1e-300)[:, None], alpha


def _start(pool: Pool, training: Training) -> Floats:
    """The means of answered items along the narrow axes; unsupervised centres of other clusters."""
    Y, rows = training.Y, training.rows
    names = name_clusters(pool.unsupervised_memberships[rows], Y)
    start = pool.narrow(pool.unsupervised_fit[0])[names]
    weights = training.stratum_size * training.sample_weight
    mass = weights @ Y
    seen = mass > 1e-9
    start[seen] = ((Y * weights[:, None]).T @ pool.narrow.points[rows])[seen] / mass[seen, None]
    return start


def iterate(
    points: Floats, norms: Floats, centers: Floats, alpha: Floats | float, steps: int
) -> Floats:
    """Lloyd's iterations for fuzzy k-means on a few thousand items, from several starts at once.

    `norms` are the items' squared lengths, `centers` (starts x k x d); each start may have a
    fuzzifier of its own.
    """
    alphas = np.broadcast_to(np.asarray(alpha, dtype=np.float64), len(centers))
    scale = np.sqrt(norms.mean())
    for _ in range(steps):
        W = _powers(_distances(points, norms, centers), alphas)[1]
        sums = (W.reshape(-1, len(points)) @ points).reshape(centers.shape)
        new = sums / np.maximum(W.sum(axis=2), 1e-300)[..., None]
        moved = float(np.abs(new - centers).max())
        centers = new
        if moved < 1e-5 * scale:
            break
    return centers


def _distances(points: Floats, norms: Floats, centers: Floats) -> Floats:
    """Squared distances, by start, cluster and item; never 0."""
    flat = centers.reshape(-1, points.shape[1])
    D = (-2.0 * flat) @ points.T
    D += (flat**2).sum(axis=1)[:, None]
    D += norms
    np.maximum(D, 1e-12 * max(float(norms.mean()), 1e-300), out=D)
    return np.reshape(D, (*centers.shape[:2], len(points)))


def _powers(D: Floats, alphas: Floats) -> tuple[Floats, Floats]:
    """Memberships of the closed form at these distances, and their powers that weigh items."""
    logs = np.log(D)
    logs -= logs.min(axis=1, keepdims=True)
    logs *= (-1.0 / (alphas - 1.0))[:, None, None]
    U = np.exp(logs)
    total = U.sum(axis=1, keepdims=True)
    U /= total
    logs -= np.log(total)
    logs *= alphas[:, None, None]
    return U, np.exp(logs)


class _ClosedForms:
    """Closed forms at given squared distances, named and with a fuzzifier by the answers."""

    def __init__(self, training: Training, D: Floats) -> None:
        self.training = training
        self.D = D  # of the pool
        self.by_fold: Floats | None = None  # of the answered items, where folds have others

    def names(self, fuzzifier: float) -> tuple[NDArray[np.intp], float]:
        """Which column each cluster is, and the fuzzifier that all answers support."""
        return _named(self.D[self.training.rows], self.training.Y, fuzzifier)

    def memberships(self, names: NDArray[np.intp], fuzzifier: float) -> Floats:
        """Memberships of the pool."""
        return memberships_from_distances(self.D[:, names], fuzzifier)

    def held_out(self, fuzzifier: float) -> Floats:
        """Memberships of each answered item by the other folds."""
        training = self.training
        held_out = np.full_like(training.Y, 1.0 / training.Y.shape[1])
        D = self.D[training.rows]
        for i, (inside, part) in enumerate(training.splits()):
            D = D if self.by_fold is None else self.by_fold[i]
            names, fitted = _named(D[~inside], part.Y, fuzzifier)
            held_out[inside] = memberships_from_distances(D[inside][:, names], fitted)
        return held_out


def _refinable(name: str, solution: tuple[Floats, float], forms: _ClosedForms) -> Fitted:
    """The closed form at a solution for the pool, which all items can move."""
    names, fuzzifier = forms.names(solution[1])
    centers = solution[0][names]

    def refine(items: ItemSet) -> Predict:
        moved = items.refine_centers(centers, solution[1])
        return ClosedForm(centers=moved, fuzzifier=fuzzifier)

    return Fitted(
        name=name,
        pool=forms.memberships(names, fuzzifier),
        held_out=forms.held_out(solution[1]),
        predict=ClosedForm(centers=centers, fuzzifier=fuzzifier),
        refine=refine,
    )


def _named(D: Floats, Y: Floats, fuzzifier: float) -> tuple[NDArray[np.intp], float]:
    """Which column each cluster is, by the answers, and the fuzzifier that they support."""
    names = name_clusters(memberships_from_distances(D, fuzzifier), Y)
    fitted = _fit_fuzzifier(D[:, names], Y)
    # A few answers move it only a little from where it was.
    share = len(Y) / (len(Y) + _PRIOR)
    moved = np.exp((1 - share) * np.log(fuzzifier - 1.0) + share * np.log(fitted - 1.0))
    return names, 1.0 + float(moved)


def _fit_fuzzifier(D: Floats, Y: Floats) -> float:
    """The fuzzifier from 1.02 to 20 at which the closed form comes closest to whole rows.

    As `fuzzy.scores.fit_fuzzifier`, by grids of values at once: it is called for every fold.
    """
    logs = np.log(np.maximum(D, 1e-300)).T  # sums over few clusters are quicker along the first
    logs -= logs.min(axis=0)
    low, high = np.log(0.02), np.log(19.0)
    for _ in range(3):
        grid = np.linspace(low, high, _GRID)
        odds = np.exp(-np.exp(-grid)[:, None, None] * logs)
        odds /= odds.sum(axis=1, keepdims=True)
        odds -= Y.T
        losses = np.einsum("gki,gki->g", odds, odds)
        best = int(losses.argmin())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    return 1.0 + float(np.exp(grid[best]))


def fcm_learned_scale(pool: Pool, training: Training) -> Fitted:
    """Fuzzy k-means with weights of the features learned from the answers."""

    def learn(part: Training) -> LearnedScale:
        centers, theta = _metric(pool, part, rounds=_ROUNDS if part is training else 1)
        return LearnedScale(centers=centers, theta=theta)

    return cross_validated("fcm_learned_scale", learn, pool, training)


def _metric(pool: Pool, training: Training, *, rounds: int) -> tuple[Floats, Floats]:
    """Centres and weights of features, in turns."""
    Z, Y, rows = pool.Z, training.Y, training.rows
    few, d = Z[pool.few], Z.shape[1]
    weights = training.weight
    theta = np.zeros(d + 1)
    share = training.stratum_size * training.sample_weight
    mass = share @ Y
    centers = ((Y * share[:, None]).T @ Z[rows]) / np.maximum(mass, 1e-9)[:, None]
    centers[mass <= 1e-9] = Z.mean(axis=0)
    for _ in range(rounds):
        theta = _fit_metric(Z[rows], Y, weights, centers, theta, _STEPS)
        scale, alpha = np.exp(theta[:d] / 2), 1.0 + np.exp(-theta[d])
        points, near, alpha = few * scale, (centers * scale)[None], np.clip(alpha, 1.05, 3.0)
        norms = (points**2).sum(axis=1)
        centers = iterate(points, norms, near, alpha, _METRIC_STEPS)[0] / scale
    steps = _STEPS if rounds > 1 else _FURTHER_STEPS
    return centers, _fit_metric(Z[rows], Y, weights, centers, theta, steps)


def _fit_metric(
    Z: Floats, Y: Floats, weights: Floats, centers: Floats, start: Floats, steps: int
) -> Floats:
    """Log weights and log exponent with the least squared error, kept near even weights."""
    d = Z.shape[1]
    squares = ((Z[:, None, :] - centers[None]) ** 2 + 1e-12).reshape(-1, d)  # of items by clusters

    def loss(theta: Floats) -> tuple[float, Floats]:
        scale, p = np.exp(theta[:d]), np.exp(theta[d])
        D = (squares @ scale).reshape(Y.shape)
        logs = np.log(D)
        U = softmax(-p * logs)
        left = U - Y
        value = float(weights @ (left**2).sum(axis=1)) + 0.05 * float(theta @ theta)
        g = 2.0 * weights[:, None] * left
        g = U * (g - (g * U).sum(axis=1, keepdims=True))  # by the logits
        by_scale = -p * ((g / D).ravel() @ squares) * scale
        by_p = -p * float((g * logs).sum())
        return value, np.append(by_scale, by_p) + 0.1 * theta

    bounds = [(-6.0, 6.0)] * d + [(-2.0, 3.5)]
    result = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps}
    )
    return np.asarray(result.x)
