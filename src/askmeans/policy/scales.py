"""The scale of one annotator, from rows of answers: its offset, gain, power and drift.

Rules of this file:
- An answer is offset + drift * time + gain * membership ** power, cut off at 0 and 1; memberships
  of a row sum to one. Times count the annotator's answers. A power other than 1 comes alone.
- A scale other than the identity is used only if it explains held-out rows better.
- Rows with correct sums are used unchanged. With two clusters a compressed scale has correct sums,
  too: it is detected by the answers and the items' features (`compression`).
- With k > 2 clusters sums of rows determine k * offset + gain only. Ends with many answers
  determine the rest; else the scale is centred if answers fill it, or an offset.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import ndtri

from askmeans._util.arrays import Floats
from askmeans.fuzzy.arrays import ROUNDING

NOTHING = 0.05  # a row with a smaller sum is in no cluster: rounding to twentieths hides more
OUTLIER = 3.5  # robust standard deviations: 1 of 2,000 normal errors is larger
MAD = 0.6745  # median of the absolute values of normal errors, in standard deviations

# Where no other source is named: by the bars of benchmarks/people.py.
FEWEST = 3  # complete rows for a scale: one more than it has parameters
_PARTS = 5  # rows with several answers for a scale, if fewer rows are complete
_END = 1e-9  # distance to 0 or 1 up to which an answer may be cut off
_SMALL = 0.01  # mean error of row sums up to which they are not corrected
_PILE = 0.02  # distance to the end of a scale up to which an answer is at it
_NOISY = 1.5  # the same for noisy answers, in standard deviations
_PILED = 0.5  # share of rows at an end from which on it is one
_BONUS = 0.05  # bonus for such an end, in errors of row sums
_ODD = 0.002  # cost of each unusual parameter, in the same unit
_FAR = 0.5  # error of a row sum above which it is a slip or "none of these"
_POINTS = 14  # low answers whose pairs give candidates of a drift
_LEAST_GAIN, _MOST_GAIN = 0.2, 1.5  # range of gains
# Distance to both ends that memberships reach on the correct scale: .21 for the softest targets
# with three clusters and more of benchmarks/question_targets.py (Wine, 45 random items).
_REACHED = 0.25
_EXTREME = 3.0  # standard deviations that the largest of 400 normal errors is, by its median
_POWERS = 0.25, 4.0  # range of powers
_ROWS = 100  # rows that estimate a power
# With noisy answers a power explains sums by chance: with 5 the errors of rows from Dirichlet
# distributions, .25 + .5 u and noise of .03, are a tenth smaller for ten clusters than with 1.
_ODD_POWER = 5
_PRIOR = 0.1  # prior standard deviation of people's offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerScale:
    """answer = offset + drift * time + gain * membership ** power, cut off at 0 and 1."""

    offset: float = 0.0
    gain: float = 1.0
    drift: float = 0.0
    power: float = 1.0

    def bounds(self, values: Floats, times: Floats) -> tuple[Floats, Floats]:
        """The lower and upper limits of the memberships of answers."""
        low = (values - self.offset - self.drift * times) / self.gain
        if self.power != 1.0:
            low = np.copysign(np.abs(low) ** (1.0 / self.power), low)
        high = np.where(values >= 1.0 - _END, np.maximum(low, 1.0), low)
        low = np.where(values <= _END, np.minimum(low, 0.0), low)
        return low, high

    def misfit(self, values: Floats, times: Floats) -> Floats:
        """The error of each row on the scale: of its sum, and outside [0, 1]."""
        low, high = self.bounds(values, times)
        complete = ~np.isnan(values).any(axis=1)
        most, least = np.nansum(high, axis=1), np.nansum(low, axis=1)
        wrong = np.maximum(least - 1.0, 0.0) + np.where(complete, np.maximum(1.0 - most, 0.0), 0.0)
        outside = np.nansum(np.maximum(-high, 0.0) + np.maximum(low - 1.0, 0.0), axis=1)
        return np.asarray(np.minimum(self.gain * (wrong + outside), _FAR))


IDENTITY = AnswerScale()


def fit_scale(values: Floats, times: Floats, features: Floats | None = None) -> AnswerScale:
    """Fit the scale of one annotator to rows (n x k, NaN for missing entries).

    `features` of the items help with two clusters.
    """
    k = values.shape[1]
    # A row of (almost) zeros is "none of these", which shows no scale.
    informative = ~(values <= NOTHING).all(axis=1)
    values, times = values[informative], times[informative]
    features = None if features is None else features[informative]
    complete = ~np.isnan(values).any(axis=1)
    if k == 1 or complete.sum() < FEWEST:
        return _of_parts(values) if k > 2 else IDENTITY
    scale = IDENTITY
    plain = IDENTITY.misfit(values, times)
    if plain[complete | (plain > 0.0)].mean() > _SMALL and _held_out_is_better(
        values, times, plain
    ):
        scale = _shrunk(_centred(_best(values, times), values, times), values, times)
    return _stretched(scale, values, times, features) if k == 2 else scale


def _of_parts(values: Floats) -> AnswerScale:
    """Fit a scale to incomplete rows: the identity, a centred scale, or an offset.

    If most rows have the same lowest answer, it replaces the missing entries. On the identity such
    rows sum to one, and missing entries may be smaller.
    """
    several = values[(~np.isnan(values)).sum(axis=1) > 1]
    if len(several) < _PARTS:
        return IDENTITY
    lowest = np.nanmin(several, axis=1)
    low = float(np.quantile(lowest, 0.1))
    piled = (lowest < low + _PILE).mean() >= _PILED
    rest = low * np.isnan(several).sum(axis=1)
    sums = np.nansum(several, axis=1) + rest
    if low < NOTHING or not piled or np.median(sums - 0.5 * rest) < 1.0 + NOTHING:
        return IDENTITY
    most = float((sums - several.shape[1] * low).max())
    gain = 1.0 - 2.0 * low
    around = gain * (1.0 - _REACHED) < most < gain + _PILE and np.nanmax(several) < 1.0 - _END
    return AnswerScale(offset=low, gain=gain if around else 1.0)


def _held_out_is_better(values: Floats, times: Floats, plain: Floats) -> bool:
    """Whether scales explain held-out rows better than the identity does."""
    complete = np.flatnonzero(~np.isnan(values).any(axis=1))
    part = np.arange(len(values)) % 5
    part[complete] = np.arange(len(complete)) % min(5, len(complete))
    fitted = np.empty_like(plain)
    for fold in range(part.max() + 1):
        out = part == fold
        fitted[out] = _best(values[~out], times[~out]).misfit(values[out], times[out])
    gain = (plain - fitted)[~np.isnan(values).any(axis=1) | (plain > 0.0) | (fitted > 0.0)]
    error = gain.std() / np.sqrt(len(gain))
    return bool(gain.mean() > 2.0 * error and np.median((plain - fitted)[complete]) > 0.0)


def _best(values: Floats, times: Floats) -> AnswerScale:
    """The scale with the smallest error, and with ends where many answers are."""
    lowest = np.nanmin(values, axis=1, keepdims=True)
    n_complete = max(1, int((~np.isnan(values)).all(axis=1).sum()))  # incomplete rows show little
    noise = _noise(values, times)

    def badness(scale: AnswerScale) -> float:
        low, high = scale.bounds(values, times)
        pile = max(_PILE, _NOISY * noise / scale.gain)
        less = _too_low(noise, values.shape[1]) / scale.gain
        ends = (low + less < pile) & (high + less > -pile) & (values <= lowest)
        at_low = ends.any(axis=1).mean()
        at_top = ((low < 1.0 + pile) & (high > 1.0 - pile)).any(axis=1).mean()
        bonus = _BONUS * sum(share for share in (at_low, at_top) if share >= _PILED)
        odd = (scale.gain != 1.0) + (scale.drift != 0.0) + 2 * (scale.offset < 0.0)
        odd += _ODD_POWER * (scale.power != 1.0)
        return float(scale.misfit(values, times).sum() / n_complete - bonus + _ODD * odd)

    # Ties go to the first candidate, the identity.
    return min([IDENTITY, *_candidates(values, times, noise)], key=badness)


def _noise(values: Floats, times: Floats) -> float:
    """Standard deviation of one answer, from the sums of rows that are not cut off."""
    inside = ((values > _END) & (values < 1.0 - _END)).all(axis=1)  # NaN is neither
    if inside.sum() < FEWEST:
        return 0.0
    sums, when = values[inside].sum(axis=1), times[inside].mean(axis=1)
    start, slope = _lines(when, sums)[-1]
    far_apart = np.median(np.abs(sums - start - slope * when))
    return float(far_apart / MAD / np.sqrt(values.shape[1]))  # of normal errors, robustly


def _too_low(noise: float, k: int) -> float:
    """The expected error of the lowest answer of a row, if all but one are equal."""
    return noise * float(ndtri((k - 1.375) / (k - 0.75)))  # the least of k - 1, by Blom's formula


def _candidates(values: Floats, times: Floats, noise: float) -> Iterator[AnswerScale]:
    """Candidate scales, by sums of rows and by their lowest answers."""
    k = values.shape[1]
    complete = ~np.isnan(values).any(axis=1)
    inside = complete & ((values > _END) & (values < 1.0 - _END)).all(axis=1)
    sums, when = values.sum(axis=1), times.mean(axis=1)
    lines: list[tuple[float, float]] = [(0.0, 0.0)]
    if inside.any():
        lines += _lines(when[inside], (sums[inside] - 1.0) / k)
    several = (~np.isnan(values)).sum(axis=1) > 1
    lowest = np.nanargmin(values[several], axis=1)[:, None]
    low = np.take_along_axis(values[several], lowest, axis=1)[:, 0]
    at = np.take_along_axis(times[several], lowest, axis=1)[:, 0]
    if len(low):
        lines.append((float(np.quantile(low, 0.1)), 0.0))
        if noise > 0.0:  # one in ten is lower by about this
            lines.append((lines[-1][0] + noise + _too_low(noise, k), 0.0))
        some = np.unique(np.linspace(0, len(low) - 1, _POINTS).astype(int))
        span = np.ptp(at) / 4.0
        for i, j in combinations(some[np.argsort(at[some], kind="stable")], 2):
            if at[j] - at[i] > span:
                slope = (low[j] - low[i]) / (at[j] - at[i])
                lines.append((float(low[i] - slope * at[i]), float(slope)))
    yield from _powers(values)
    for offset, drift in lines:
        yield AnswerScale(offset=offset, drift=drift)
        if inside.any():
            gain = np.median(sums[inside] - k * offset - drift * times[inside].sum(axis=1))
            if _LEAST_GAIN <= gain <= _MOST_GAIN:
                yield AnswerScale(offset=offset, drift=drift, gain=float(gain))


def _powers(values: Floats) -> Iterator[AnswerScale]:
    """The power for which rows sum to one, the median of rows without an entry of 1."""
    inside = ((values > _END) & (values < 1.0 - _END)).sum(axis=1) > 1
    rows = values[inside & ~np.isnan(values).any(axis=1)]
    if len(rows) < FEWEST:
        return
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, _ROWS).astype(int))]
    powers = np.geomspace(*_POWERS, 200)
    sums = (np.clip(rows, 0.0, 1.0)[:, :, None] ** (1.0 / powers)).sum(axis=1)
    each = np.array([np.interp(0.0, np.log(sums[row]), np.log(powers)) for row in range(len(rows))])
    yield AnswerScale(power=float(np.exp(np.median(each))))


def _lines(when: Floats, what: Floats) -> list[tuple[float, float]]:
    """A constant and a line through points, by medians (Theil and Sen)."""
    constant = (float(np.median(what)), 0.0)
    i, j = np.triu_indices(len(when), 1)
    far_apart = np.abs(when[j] - when[i]) > np.ptp(when) / 4.0
    if not far_apart.any():
        return [constant]
    slope = float(np.median(((what[j] - what[i])[far_apart]) / (when[j] - when[i])[far_apart]))
    return [constant, (float(np.median(what - slope * when)), slope)]


def _centred(scale: AnswerScale, values: Floats, times: Floats) -> AnswerScale:
    """The scale with the same row sums that is centred at one half, if answers fill it.

    They fill it if they come near both ends and, up to noise, none is beyond them. Answers that are
    only raised do so by chance alone.
    """
    k = values.shape[1]
    if k == 2 or scale.drift != 0.0 or scale.power != 1.0:
        return scale
    gain = (k - 2.0 * (k * scale.offset + scale.gain)) / (k - 2.0)
    if not _LEAST_GAIN <= gain < 1.0:
        return scale
    centred = AnswerScale(offset=(1.0 - gain) / 2.0, gain=gain)
    low, high = centred.bounds(values, times)
    beyond = max(_PILE, _EXTREME * _noise(values, times) / gain)
    at_low = -beyond < np.nanmin(high) and np.nanmin(low) < _REACHED
    at_top = np.nanmax(low) < 1.0 + beyond and np.nanmax(high) > 1.0 - _REACHED
    return centred if at_low and at_top else scale


def _shrunk(scale: AnswerScale, values: Floats, times: Floats) -> AnswerScale:
    """The scale, shrunk to the identity if rows disagree about it."""
    complete = ~np.isnan(values).any(axis=1)
    spread = np.median(scale.misfit(values[complete], times[complete])) / MAD
    variance = spread**2 / complete.sum() / values.shape[1]
    share = float(_PRIOR**2 / (_PRIOR**2 + variance))
    return AnswerScale(
        offset=share * scale.offset,
        drift=share * scale.drift,
        gain=1.0 + share * (scale.gain - 1.0),
        power=scale.power**share,
    )


def _stretched(
    scale: AnswerScale, values: Floats, times: Floats, features: Floats | None
) -> AnswerScale:
    """For two clusters: the scale with the ends that `compression` estimates."""
    low, high = scale.bounds(values, times)
    if (low < high).any():  # the scale ends at the cut off answers
        return scale
    first = np.nanmean(np.column_stack([low[:, 0], 1.0 - low[:, 1]]), axis=1)
    share = compression(first, features)
    return replace(
        scale, offset=scale.offset + scale.gain * share, gain=scale.gain * (1.0 - 2.0 * share)
    )


# ---- compressed scales of two clusters, whose rows have correct sums ----------------------------

_COMPRESSIONS = np.arange(0.0, 0.36, 0.025)  # values of a: a grid
_FINER = np.arange(-0.02, 0.021, 0.005)  # refinement around the best of them: a grid
_AT_ENDS = 0.05  # distance to an end up to which answers reach it, and to the middle without an end
_FEWEST_ANSWERS, _MOST_ANSWERS = 12, 100  # number of answers; more than 100 cost time
_EARLY = 40  # first items; later ones are mostly between the clusters
_NEAREST = 0.01  # memberships are clipped there: people answer in percent
# Kernels are sums of a linear, a smooth and an independent part; widths are relative to the mean
# squared norm.
_WIDTHS, _SMOOTH, _INDEPENDENT = (1.0, 4.0), (0.1, 1.0), (1e-4, 1e-3, 0.03, 0.2)
# Odds of 20. On 20 tables of two clusters undistorted answers reach at most 1.5. Answers .25 + .5 u
# reach 19 to 257 where features explain memberships (posteriors of LDA, of mixtures, moons; .4 on
# banana, which ends after 13 answers), 0 to 14 on fuzzy k-means with half of the features known.
_NATS = 3.0


def compression(first: Floats, features: Floats | None = None) -> float:
    """Estimate `a` from answers about the first of two clusters; 0 unless clearly larger.

    Answers are a + (1 - 2 a) * membership, and memberships are logistic normal. The likelihood of
    `a` has two factors. The first takes the answers of early items as independent. The second is a
    Gaussian process over the features of all items, as a compressed scale bends their relation to
    the answers near both ends (warped Gaussian processes; Snelson, Rasmussen and Ghahramani, NIPS
    2003). `features` has a row for each answer.
    """
    y = first[:_MOST_ANSWERS]
    if len(y) < _FEWEST_ANSWERS or not _AT_ENDS < np.abs(y - 0.5).max() < 0.5 - _AT_ENDS:
        return 0.0
    alone = np.eye(len(y[:_EARLY]))[None]
    kernels = None if features is None else _kernels(features[:_MOST_ANSWERS])

    def fit(share: float) -> float:
        together = 0.0 if kernels is None else _log_likelihood(y, share, kernels)
        return _log_likelihood(y[:_EARLY], share, alone) + together

    best = max(_COMPRESSIONS, key=fit)
    best = max([best, *(best + _FINER)], key=fit) if best > 0.0 else best
    return float(best) if fit(best) > fit(0.0) + _NATS else 0.0


def _kernels(features: Floats) -> Floats:
    """The covariance matrices of all kernels."""
    F = features / np.sqrt(max(float(np.square(features).sum(axis=1).mean()), 1e-300))
    linear, one = F @ F.T, np.eye(len(F))
    distances = np.diag(linear)[:, None] + np.diag(linear) - 2.0 * linear
    return np.stack([
        linear + smooth * np.exp(-0.5 * distances / width) + independent * one
        for width in _WIDTHS for smooth in _SMOOTH for independent in _INDEPENDENT
    ])  # fmt: skip


def _log_likelihood(y: Floats, share: float, kernels: Floats) -> float:
    """The log-likelihood of a = share with the best kernel."""
    gain = 1.0 - 2.0 * share
    u = (y - share) / gain
    if min(u.min(), 1.0 - u.max()) < -ROUNDING:
        return -np.inf
    u = np.clip(u, _NEAREST, 1.0 - _NEAREST)
    z = np.log(u / (1.0 - u))
    z -= z.mean()
    factors = np.linalg.cholesky(kernels)
    white = np.linalg.solve(factors, np.tile(z[:, None], (len(kernels), 1, 1)))[..., 0]
    variances = np.maximum(np.square(white).mean(axis=1), 1e-9)  # of largest likelihood
    log_dets = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    jacobian = -np.log(u * (1.0 - u) * gain).sum()
    return float((-0.5 * len(z) * np.log(variances) - log_dets).max() + jacobian)
