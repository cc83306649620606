"""A draft's clustering from rough answers: centres and links fitted to them together.

The centres do not weigh items by raw answers: a power of a noisy answer is too large on average,
E[(U + z)^2] = U^2 + sigma^2, and one hostile answer may weigh as much as ten others. What
clustering without questions finds stands by: where it explains the answers better, its centres are
taken, so that noise does not drag them below what no questions would give.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from askmeans.denoising import robust_scale, tukey_loss
from askmeans.fuzzy.model import closed_form_memberships
from askmeans.items import Ranking
from askmeans.plans.answers import EXACT, Roughness, keep_answers
from askmeans.plans.rough import RoughFit, Singles, fit_rough
from askmeans.plans.sampling import CenterEstimate
from askmeans.queries import MembershipQueries
from askmeans.results import Clustering, Predictor

if TYPE_CHECKING:
    from askmeans.plans.draft import Draft

__all__ = ["finish_rough", "fit_draft", "matched_centers"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_PASSES = 1  # more change little
_LEAST_SCALE = 0.01
_MARGIN = 0.5  # standard errors by which clustering alone must be better


def fit_draft(draft: "Draft") -> RoughFit:
    """Centres and links from all answers so far; the draft's estimates are renewed."""
    roughness = draft.roughness if draft.roughness != EXACT else Roughness(noise=None)
    singles = Singles.of(draft.answers)
    points = draft.items.take(draft.answers.items)
    fit = fit_rough(points, draft.scorer_for(draft.centers()), singles, roughness)
    absent = set(fit.missing())
    if absent != draft.absent:
        draft.absent = absent
        fit = fit_rough(points, draft.scorer_for(draft.centers()), singles, roughness)
    for _ in range(_PASSES):
        weighing = fit.weighing(draft.fuzzifier)
        draft.renew_estimates(weighing)
        scorer = draft.scorer_for(draft.centers(weighing), _believed(fit))
        fit = fit_rough(points, scorer, singles, roughness)
    return fit


def finish_rough(draft: "Draft", *, complete: bool) -> Clustering:
    """The best clustering from rough answers."""
    fit = fit_draft(draft)
    alone = _without_questions(draft, fit)
    source = "answers"
    if _explains_better(alone, fit):
        source, fit = "unsupervised", alone
    draft.scorer = fit.scorer
    draft.ranking = ranking = draft.items.rank(fit.scorer)
    links = fit.plain_links
    memberships = ranking.memberships(links)
    rows = draft.answers.items
    own, own_error = fit.own()
    keep_answers(memberships, rows, own)
    return Clustering(
        centers=fit.scorer.centers,
        memberships=memberships,
        predictor=Predictor(scorer=fit.scorer, links=tuple(links)),
        complete=complete and not draft.missing,
        diagnostics=draft.diagnostics(memberships, draft.inversion(ranking))
        | _account(draft, fit, source)
        | {"row_error": _row_errors(draft, ranking, fit, own_error)},
        again=_again(draft, ranking, fit),
    )


def matched_centers(draft: "Draft") -> Floats:
    """Centres of an unsupervised fit, in the order that agrees best with the answers."""
    k = draft.n_clusters
    free = draft.items.unsupervised_centers(k, draft.fuzzifier, draft.rng)
    rows, told = draft.answers.items, draft.answers.values
    agreement = np.zeros((k, k))
    if len(rows):
        U = closed_form_memberships(draft.items.take(rows), free, max(draft.fuzzifier, 1.05))
        agreement = np.nan_to_num(told).T @ U
    return free[linear_sum_assignment(agreement, maximize=True)[1]]


def _without_questions(draft: "Draft", fit: RoughFit) -> RoughFit:
    """The same answers fitted from the centres that clustering alone finds."""
    points = draft.items.take(draft.answers.items)
    scorer = draft.scorer_for(matched_centers(draft), _believed(fit))
    roughness = draft.roughness if draft.roughness != EXACT else Roughness(noise=None)
    return fit_rough(points, scorer, fit.singles, roughness)


def _explains_better(alone: RoughFit, fit: RoughFit) -> bool:
    """Whether the centres without questions explain the same answers better, and not by chance.

    Both are measured in the same deviations, and an answer that one of them disbelieves costs it as
    much as an answer can: disbelieving is no way to look better.
    """
    if not len(fit.missed):
        return False
    ones = np.ones(len(fit.missed))
    scale = max(robust_scale(one.missed, ones) for one in (alone, fit))
    losses = [tukey_loss(one.missed / max(scale, _LEAST_SCALE)) for one in (fit, alone)]
    gain = losses[0] - losses[1]
    return bool(gain.mean() > _MARGIN * gain.std() / np.sqrt(len(gain)))


def _believed(fit: RoughFit) -> Floats:
    """Means of the answers that are believed, one row an item asked about; NaN for none."""
    one = fit.singles
    total, sums = np.zeros(fit.prediction.shape), np.zeros(fit.prediction.shape)
    weight = one.weights * fit.belief
    np.add.at(total, (one.places, one.clusters), weight)
    np.add.at(sums, (one.places, one.clusters), weight * one.values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.where(total > 0.1, sums / total, np.nan)
    return means


def _account(draft: "Draft", fit: RoughFit, source: str) -> dict[str, Any]:
    """What the answers themselves tell of their errors."""
    one, items = fit.singles, draft.answers.items
    away = fit.deviations()
    doubted = np.flatnonzero(fit.doubted())
    doubted = doubted[np.argsort(-away[doubted], kind="stable")]
    return {
        "noise": fit.noise,
        "misfit": fit.misfit,
        "centers_from": source,
        "center_noise": [
            _center_noise(draft, fit, j, estimate) for j, estimate in enumerate(draft.estimates)
        ],
        "doubted": [
            {
                "item": int(items[one.places[i]]),
                "cluster": int(one.clusters[i]),
                "value": float(one.values[i]),
                "expected": float(fit.prediction[one.places[i], one.clusters[i]]),
                "deviations": float(away[i]),
            }
            for i in doubted
        ],
    }


def _center_noise(
    draft: "Draft", fit: RoughFit, cluster: int, estimate: CenterEstimate | None
) -> float:
    """How far the answers' noise may move a centre, as a standard deviation; inf for a guess."""
    if estimate is None:
        return float("inf")
    strata = draft.strata[cluster]
    places = {int(item): place for place, item in enumerate(draft.answers.items)}
    alpha, variance = draft.fuzzifier, 0.0
    for size, rows in strata.parts:
        rows = np.array([row for row in rows.tolist() if row in places], dtype=np.intp)
        if not len(rows):
            continue
        u = np.clip(fit.prediction[[places[row] for row in rows.tolist()], cluster], 0.0, 1.0)
        away = np.square(draft.items.take(rows) - estimate.center).sum(axis=1)
        slope = alpha * u ** (alpha - 1.0) * size / len(rows)
        variance += float(np.square(slope * fit.noise) @ away)
    return float(np.sqrt(variance) / estimate.weight)


def _row_errors(draft: "Draft", ranking: Ranking, fit: RoughFit, own_error: Floats) -> Floats:
    """For each item, the root mean square error to expect of its memberships."""
    one, everything = fit.singles, np.arange(draft.items.n)
    scale = np.hypot(fit.noise, fit.misfit)
    squares = np.zeros(draft.items.n)
    rows = draft.answers.items
    for j, link in enumerate(fit.links):
        variance = np.full(draft.items.n, 0.25)
        if link is not None:
            mine = one.clusters == j
            x = fit.coordinates[one.places[mine], j]
            order = np.argsort(x, kind="stable")
            spread = np.square(scale * link.blend) / np.maximum(link.mass, 1.0)
            variance = np.interp(ranking.coordinates(j, everything), x[order], spread[order])
            variance += fit.misfit**2
        asked = ~np.isnan(own_error[:, j])
        spared = fit.misfit**2 - np.square(own_error[asked, j])  # what its own answers tell
        variance[rows[asked]] -= np.maximum(spared, 0.0)
        squares += variance
    return np.sqrt(np.maximum(squares, 0.0) / draft.n_clusters)


def _again(draft: "Draft", ranking: Ranking, fit: RoughFit) -> tuple[MembershipQueries, Floats]:
    """What was asked, and how much asking it again would bring."""
    rows, n = draft.answers.items, draft.items.n
    share = np.zeros(fit.prediction.shape)
    everything = np.arange(n)
    for j in range(draft.n_clusters):
        mine = np.unique(fit.singles.places[fit.singles.clusters == j])
        if not len(mine):
            continue
        x = fit.coordinates[mine, j]
        order = np.argsort(x, kind="stable")
        middles = (x[order][1:] + x[order][:-1]) / 2.0
        nearest = order[np.searchsorted(middles, ranking.coordinates(j, everything))]
        share[mine, j] = np.bincount(nearest, minlength=len(mine)) / n
    places, clusters, gains = fit.gains(share)
    return MembershipQueries(rows[places], clusters), gains
