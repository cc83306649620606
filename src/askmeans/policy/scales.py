"""The scale of one annotator, from rows of answers: its offset, gain, power and drift.

Rules of this file:
- An answer is offset + drift * time + gain * membership ** power, clipped to [0, 1]; memberships
  of a row sum to one. Time is the number of the annotator's answer. A power other than 1 is not
  combined with an offset, gain or drift.
- A scale other than the identity is used only if it explains held-out rows better.
- Rows whose answers sum to one are used unchanged. With two clusters this includes compressed
  scales, which are detected by the answers and the items' features (`compression`).
- With k > 2 clusters row sums determine k * offset + gain only. If many answers lie at an end of
  the scale, the end determines the rest. Otherwise the scale is centred at one half if answers
  extend over all of it, or else an offset.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from askmeans._util.arrays import Floats
from askmeans.fuzzy.arrays import ROUNDING

# A row with a smaller sum belongs to no cluster, and one with a smaller rest is complete: rounding
# to multiples of .05 may change more.
UNASSIGNED_SUM = 0.05
OUTLIER = 3.5  # robust standard deviations: 1 of 2,000 normal errors is larger
NORMAL_MAD = 0.6745  # median absolute deviation of normal errors, in standard deviations

# Constants without another source were chosen by the bars of benchmarks/people.py.
MIN_ROWS = 3  # complete rows for a scale: one more than it has parameters
_MIN_INCOMPLETE_ROWS = 5  # rows with several answers for a scale, if fewer rows are complete
_END_TOLERANCE = 1e-9  # distance to 0 or 1 up to which an answer may have been clipped
_MAX_PLAIN_MISFIT = 0.01  # mean error of row sums up to which they are not corrected
_END_WIDTH = 0.02  # distance from an end of the scale up to which an answer counts as at the end
_NOISY_END_WIDTH = 1.5  # the same for noisy answers, in standard deviations
_MIN_END_SHARE = 0.5  # share of rows with an answer at an end that earns the bonus
_END_BONUS = 0.05  # in units of row-sum error
_PARAMETER_COST = 0.002  # penalty of each parameter that is not the identity's, in the same unit
_MAX_MISFIT = 0.5  # larger errors of a row sum are slips or "none of these"
_DRIFT_POINTS = 14  # low answers whose pairs give candidate drifts
_MIN_GAIN, _MAX_GAIN = 0.2, 1.5
# On the correct scale memberships come this close to both ends: .21 for the softest targets with
# three clusters and more of benchmarks/question_targets.py (Wine, 45 random items).
_REACH = 0.25
_EXTREME_DEVIATIONS = 3.0  # median of the largest of 400 normal errors, in standard deviations
_POWER_RANGE = 0.25, 4.0
_MAX_POWER_ROWS = 100  # rows used to estimate a power
# Penalty of a power, in `_PARAMETER_COST`. With noisy answers a power explains sums by chance:
# with 5 the errors of rows from Dirichlet distributions, .25 + .5 u and noise of .03, are a tenth
# smaller for ten clusters than with 1.
_POWER_COST = 5
_PRIOR_DEVIATION = 0.1  # prior standard deviation of annotators' offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerScale:
    """answer = offset + drift * time + gain * membership ** power, clipped to [0, 1]."""

    offset: float = 0.0
    gain: float = 1.0
    drift: float = 0.0
    power: float = 1.0

    def bounds(self, values: Floats, times: Floats) -> tuple[Floats, Floats]:
        """The lower and upper limits of the memberships of answers."""
        low = (values - self.offset - self.drift * times) / self.gain
        if self.power != 1.0:
            low = np.copysign(np.abs(low) ** (1.0 / self.power), low)
        high = np.where(values >= 1.0 - _END_TOLERANCE, np.maximum(low, 1.0), low)
        low = np.where(values <= _END_TOLERANCE, np.minimum(low, 0.0), low)
        return low, high

    def misfit(self, values: Floats, times: Floats) -> Floats:
        """The error of each row: its sum's distance from one, and the excess over [0, 1]."""
        low, high = self.bounds(values, times)
        complete = ~np.isnan(values).any(axis=1)
        most, least = np.nansum(high, axis=1), np.nansum(low, axis=1)
        of_sum = np.maximum(least - 1.0, 0.0) + np.where(complete, np.maximum(1.0 - most, 0.0), 0.0)
        outside = np.nansum(np.maximum(-high, 0.0) + np.maximum(low - 1.0, 0.0), axis=1)
        return np.asarray(np.minimum(self.gain * (of_sum + outside), _MAX_MISFIT))


IDENTITY = AnswerScale()


def fit_scale(values: Floats, times: Floats, features: Floats | None = None) -> AnswerScale:
    """Fit the scale of one annotator to rows (n x k, NaN for missing entries).

    `features` of the items help with two clusters.
    """
    k = values.shape[1]
    # A row of (almost) zeros means "none of these" and contains no information about the scale.
    informative = ~(values <= UNASSIGNED_SUM).all(axis=1)
    values, times = values[informative], times[informative]
    features = None if features is None else features[informative]
    complete = ~np.isnan(values).any(axis=1)
    if k == 1 or complete.sum() < MIN_ROWS:
        return _fit_incomplete_rows(values) if k > 2 else IDENTITY
    scale = IDENTITY
    plain = IDENTITY.misfit(values, times)
    if plain[complete | (plain > 0.0)].mean() > _MAX_PLAIN_MISFIT and _held_out_is_better(
        values, times, plain
    ):
        scale = _centre_if_filled(_best_candidate(values, times), values, times)
        scale = _shrink_to_identity(scale, values, times)
    return _correct_compression(scale, values, times, features) if k == 2 else scale


def _fit_incomplete_rows(values: Floats) -> AnswerScale:
    """Fit a scale to incomplete rows: the identity, a centred scale, or an offset.

    If most rows have the same lowest answer, it replaces the missing entries: rows that sum to more
    than one then have an offset. On the identity missing entries may be smaller.
    """
    several = values[(~np.isnan(values)).sum(axis=1) > 1]
    if len(several) < _MIN_INCOMPLETE_ROWS:
        return IDENTITY
    lowest = np.nanmin(several, axis=1)
    low = float(np.quantile(lowest, 0.1))
    is_end = (lowest < low + _END_WIDTH).mean() >= _MIN_END_SHARE
    rest = low * np.isnan(several).sum(axis=1)
    sums = np.nansum(several, axis=1) + rest
    if low < UNASSIGNED_SUM or not is_end or np.median(sums - 0.5 * rest) < 1.0 + UNASSIGNED_SUM:
        return IDENTITY
    most = float((sums - several.shape[1] * low).max())
    gain = 1.0 - 2.0 * low
    unclipped = np.nanmax(several) < 1.0 - _END_TOLERANCE
    is_centred = gain * (1.0 - _REACH) < most < gain + _END_WIDTH and unclipped
    return AnswerScale(offset=low, gain=gain if is_centred else 1.0)


def _held_out_is_better(values: Floats, times: Floats, plain: Floats) -> bool:
    """Whether scales explain held-out rows better than the identity does."""
    complete = np.flatnonzero(~np.isnan(values).any(axis=1))
    part = np.arange(len(values)) % 5
    part[complete] = np.arange(len(complete)) % min(5, len(complete))
    fitted = np.empty_like(plain)
    for fold in range(part.max() + 1):
        out = part == fold
        fitted[out] = _best_candidate(values[~out], times[~out]).misfit(values[out], times[out])
    gain = (plain - fitted)[~np.isnan(values).any(axis=1) | (plain > 0.0) | (fitted > 0.0)]
    error = gain.std() / np.sqrt(len(gain))
    return bool(gain.mean() > 2.0 * error and np.median((plain - fitted)[complete]) > 0.0)


def _best_candidate(values: Floats, times: Floats) -> AnswerScale:
    """The candidate with the smallest misfit, less a bonus for many answers at its ends."""
    lowest = np.nanmin(values, axis=1, keepdims=True)
    # Only complete rows: incomplete ones contain little information.
    n_complete = max(1, int((~np.isnan(values)).all(axis=1).sum()))
    noise = _answer_noise(values, times)

    def penalized_misfit(scale: AnswerScale) -> float:
        low, high = scale.bounds(values, times)
        width = max(_END_WIDTH, _NOISY_END_WIDTH * noise / scale.gain)
        bias = _bias_of_lowest(noise, values.shape[1]) / scale.gain
        ends = (low + bias < width) & (high + bias > -width) & (values <= lowest)
        at_low = ends.any(axis=1).mean()
        at_top = ((low < 1.0 + width) & (high > 1.0 - width)).any(axis=1).mean()
        bonus = _END_BONUS * sum(share for share in (at_low, at_top) if share >= _MIN_END_SHARE)
        cost = (scale.gain != 1.0) + (scale.drift != 0.0) + 2 * (scale.offset < 0.0)
        cost += _POWER_COST * (scale.power != 1.0)
        misfit = scale.misfit(values, times).sum() / n_complete
        return float(misfit - bonus + _PARAMETER_COST * cost)

    # The identity is first: it wins ties.
    return min([IDENTITY, *_candidates(values, times, noise)], key=penalized_misfit)


def _answer_noise(values: Floats, times: Floats) -> float:
    """Standard deviation of one answer, from the sums of complete rows that are not clipped."""
    inside = _is_inside(values).all(axis=1)
    if inside.sum() < MIN_ROWS:
        return 0.0
    sums, when = values[inside].sum(axis=1), times[inside].mean(axis=1)
    start, slope = _constant_and_line(when, sums)[-1]
    deviation = np.median(np.abs(sums - start - slope * when))
    return float(deviation / NORMAL_MAD / np.sqrt(values.shape[1]))


def _bias_of_lowest(noise: float, k: int) -> float:
    """How far noise lowers the lowest answer of a row, if all but one membership are equal."""
    # Expected minimum of k - 1 normal errors (Blom's formula).
    return noise * float(ndtri((k - 1.375) / (k - 0.75)))


def _candidates(values: Floats, times: Floats, noise: float) -> Iterator[AnswerScale]:
    """Candidate scales from row sums and from the lowest answers of rows."""
    k = values.shape[1]
    inside = _is_inside(values).all(axis=1)
    sums, when = values.sum(axis=1), times.mean(axis=1)
    lines: list[tuple[float, float]] = [(0.0, 0.0)]
    if inside.any():
        lines += _constant_and_line(when[inside], (sums[inside] - 1.0) / k)
    several = (~np.isnan(values)).sum(axis=1) > 1
    lowest = np.nanargmin(values[several], axis=1)[:, None]
    low = np.take_along_axis(values[several], lowest, axis=1)[:, 0]
    at = np.take_along_axis(times[several], lowest, axis=1)[:, 0]
    if len(low):
        lines.append((float(np.quantile(low, 0.1)), 0.0))
        if noise > 0.0:  # the lowest tenth of the answers is lower than the scale by about this
            lines.append((lines[-1][0] + noise + _bias_of_lowest(noise, k), 0.0))
        some = np.unique(np.linspace(0, len(low) - 1, _DRIFT_POINTS).astype(int))
        span = np.ptp(at) / 4.0
        for i, j in combinations(some[np.argsort(at[some], kind="stable")], 2):
            if at[j] - at[i] > span:
                slope = (low[j] - low[i]) / (at[j] - at[i])
                lines.append((float(low[i] - slope * at[i]), float(slope)))
    yield from _power_candidate(values)
    for offset, drift in lines:
        yield AnswerScale(offset=offset, drift=drift)
        if inside.any():
            gain = np.median(sums[inside] - k * offset - drift * times[inside].sum(axis=1))
            if _MIN_GAIN <= gain <= _MAX_GAIN:
                yield AnswerScale(offset=offset, drift=drift, gain=float(gain))


def _power_candidate(values: Floats) -> Iterator[AnswerScale]:
    """The median over rows of the power for which they sum to one; rows without an entry of 1."""
    several_inside = _is_inside(values).sum(axis=1) > 1
    rows = values[several_inside & ~np.isnan(values).any(axis=1)]
    if len(rows) < MIN_ROWS:
        return
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, _MAX_POWER_ROWS).astype(int))]
    powers = np.geomspace(*_POWER_RANGE, 200)
    sums = (np.clip(rows, 0.0, 1.0)[:, :, None] ** (1.0 / powers)).sum(axis=1)
    each = np.array([np.interp(0.0, np.log(sums[row]), np.log(powers)) for row in range(len(rows))])
    yield AnswerScale(power=float(np.exp(np.median(each))))


def _is_inside(values: Floats) -> NDArray[np.bool_]:
    """Which answers are given and were not clipped to 0 or 1."""
    inside: NDArray[np.bool_] = (values > _END_TOLERANCE) & (values < 1.0 - _END_TOLERANCE)
    return inside


def _constant_and_line(x: Floats, y: Floats) -> list[tuple[float, float]]:
    """Intercept and slope of a constant, and of the Theil-Sen line where x is spread enough."""
    constant = (float(np.median(y)), 0.0)
    i, j = np.triu_indices(len(x), 1)
    far_apart = np.abs(x[j] - x[i]) > np.ptp(x) / 4.0
    if not far_apart.any():
        return [constant]
    slope = float(np.median(((y[j] - y[i])[far_apart]) / (x[j] - x[i])[far_apart]))
    return [constant, (float(np.median(y - slope * x)), slope)]


def _centre_if_filled(scale: AnswerScale, values: Floats, times: Floats) -> AnswerScale:
    """The scale with the same row sums that is centred at one half, if answers fill it.

    They fill it if they come near both ends and, up to noise, none lies beyond them. With an offset
    only, answers do so only by chance.
    """
    k = values.shape[1]
    if k == 2 or scale.drift != 0.0 or scale.power != 1.0:
        return scale
    gain = (k - 2.0 * (k * scale.offset + scale.gain)) / (k - 2.0)
    if not _MIN_GAIN <= gain < 1.0:
        return scale
    centred = AnswerScale(offset=(1.0 - gain) / 2.0, gain=gain)
    low, high = centred.bounds(values, times)
    beyond = max(_END_WIDTH, _EXTREME_DEVIATIONS * _answer_noise(values, times) / gain)
    at_low = -beyond < np.nanmin(high) and np.nanmin(low) < _REACH
    at_top = np.nanmax(low) < 1.0 + beyond and np.nanmax(high) > 1.0 - _REACH
    return centred if at_low and at_top else scale


def _shrink_to_identity(scale: AnswerScale, values: Floats, times: Floats) -> AnswerScale:
    """The scale, shrunk towards the identity by the variance of the rows' misfit."""
    complete = ~np.isnan(values).any(axis=1)
    spread = np.median(scale.misfit(values[complete], times[complete])) / NORMAL_MAD
    variance = spread**2 / complete.sum() / values.shape[1]
    share = float(_PRIOR_DEVIATION**2 / (_PRIOR_DEVIATION**2 + variance))
    return AnswerScale(
        offset=share * scale.offset,
        drift=share * scale.drift,
        gain=1.0 + share * (scale.gain - 1.0),
        power=scale.power**share,
    )


def _correct_compression(
    scale: AnswerScale, values: Floats, times: Floats, features: Floats | None
) -> AnswerScale:
    """For two clusters: the scale with the ends that `compression` estimates."""
    low, high = scale.bounds(values, times)
    if (low < high).any():  # clipped answers show where the scale ends
        return scale
    first = np.nanmean(np.column_stack([low[:, 0], 1.0 - low[:, 1]]), axis=1)
    share = compression(first, features)
    return replace(
        scale, offset=scale.offset + scale.gain * share, gain=scale.gain * (1.0 - 2.0 * share)
    )


# ---- compressed scales of two clusters, whose rows have correct sums ----------------------------

_COMPRESSIONS = np.arange(0.0, 0.36, 0.025)  # candidate values of a
_REFINEMENT = np.arange(-0.02, 0.021, 0.005)  # steps from the best of them
# Answers closer than this to 0 or 1 reach the end; with all answers as close to .5 no end is seen.
_END_DISTANCE = 0.05
_MIN_ANSWERS, _MAX_ANSWERS = 12, 100  # number of answers; more than 100 cost time
_EARLY_ITEMS = 40  # first items; later ones are mostly between the clusters
_CLIP = 0.01  # memberships are clipped to [.01, .99]: people answer in percent
# Kernels are sums of a linear, an RBF and a white-noise part; widths are relative to the mean
# squared norm.
_WIDTHS, _RBF, _WHITE = (1.0, 4.0), (0.1, 1.0), (1e-4, 1e-3, 0.03, 0.2)
# Log-odds of a compressed against a plain scale: odds of 20. On 20 tables of two clusters
# undistorted answers reach log-odds of at most 1.5. Answers .25 + .5 u reach 19 to 257 where
# features explain memberships (posteriors of LDA, of mixtures, moons; .4 on banana, which ends
# after 13 answers), 0 to 14 on fuzzy k-means with half of the features known.
_MIN_LOG_ODDS = 3.0


def compression(first: Floats, features: Floats | None = None) -> float:
    """Estimate `a` from answers about the first of two clusters; 0 unless clearly larger.

    Answers are a + (1 - 2 a) * membership, and memberships are logistic normal. The likelihood of
    `a` has two factors. The first treats the answers about early items as independent. The second
    is a Gaussian process over the features of all items: a wrong `a` makes the logits nonlinear in
    the features near both ends (warped Gaussian processes; Snelson, Rasmussen and Ghahramani, NIPS
    2003). `features` has a row for each answer.
    """
    y = first[:_MAX_ANSWERS]
    if len(y) < _MIN_ANSWERS or not _END_DISTANCE < np.abs(y - 0.5).max() < 0.5 - _END_DISTANCE:
        return 0.0
    white_noise = np.eye(len(y[:_EARLY_ITEMS]))[None]
    kernels = None if features is None else _kernels(features[:_MAX_ANSWERS])

    def fit(share: float) -> float:
        process = 0.0 if kernels is None else _log_likelihood(y, share, kernels)
        return _log_likelihood(y[:_EARLY_ITEMS], share, white_noise) + process

    best = max(_COMPRESSIONS, key=fit)
    best = max([best, *(best + _REFINEMENT)], key=fit) if best > 0.0 else best
    return float(best) if fit(best) > fit(0.0) + _MIN_LOG_ODDS else 0.0


def _kernels(features: Floats) -> Floats:
    """The covariance matrices of all kernels."""
    F = features / np.sqrt(max(float(np.square(features).sum(axis=1).mean()), 1e-300))
    linear, one = F @ F.T, np.eye(len(F))
    distances = np.diag(linear)[:, None] + np.diag(linear) - 2.0 * linear
    return np.stack([
        linear + rbf * np.exp(-0.5 * distances / width) + white * one
        for width in _WIDTHS for rbf in _RBF for white in _WHITE
    ])  # fmt: skip


def _log_likelihood(y: Floats, share: float, kernels: Floats) -> float:
    """The log-likelihood of a = share with the best kernel."""
    gain = 1.0 - 2.0 * share
    u = (y - share) / gain
    if min(u.min(), 1.0 - u.max()) < -ROUNDING:
        return -np.inf
    u = np.clip(u, _CLIP, 1.0 - _CLIP)
    z = np.log(u / (1.0 - u))
    z -= z.mean()
    factors = np.linalg.cholesky(kernels)
    white = np.linalg.solve(factors, np.tile(z[:, None], (len(kernels), 1, 1)))[..., 0]
    variances = np.maximum(np.square(white).mean(axis=1), 1e-9)  # of largest likelihood
    log_dets = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    jacobian = -np.log(u * (1.0 - u) * gain).sum()
    return float((-0.5 * len(z) * np.log(variances) - log_dets).max() + jacobian)
