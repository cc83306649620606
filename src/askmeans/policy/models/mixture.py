"""A semi-supervised Gaussian mixture, clamped to the answers: EM for all other items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans.policy.models.linear import learn_lda, softmax
from askmeans.policy.models.training import Fitted, InCommonScale, Training
from askmeans.policy.pool import Pool, quadratic

_ENOUGH = 500  # items that folds are compared by
_ITERATIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """Posteriors of a Gaussian mixture along the principal axes: their logits are quadratic."""

    axes: Floats
    coefficients: Floats

    def __call__(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        return softmax(quadratic(Z @ self.axes) @ self.coefficients.T)


def mixture(pool: Pool, training: Training) -> Fitted:
    """EM from a discriminant analysis; answered items keep their memberships."""
    coefficients = _learn(pool, [training], np.arange(len(pool)))[0]
    Q = pool.quadratic
    held_out = np.full_like(training.Y, 1.0 / training.Y.shape[1])
    splits = training.splits()
    if splits:
        among = pool.few[:: max(1, len(pool.few) // _ENOUGH)]
        by_fold = _learn(pool, [part for _, part in splits], among)
        for (inside, _), one in zip(splits, by_fold, strict=True):
            held_out[inside] = softmax(Q[training.rows[inside]] @ one.T)
    return Fitted(
        name="gaussian_mixture",
        pool=softmax(Q @ coefficients.T),
        held_out=held_out,
        predict=InCommonScale(
            scale=pool.scaled, model=Mixture(axes=pool.axes, coefficients=coefficients)
        ),
    )


def _learn(pool: Pool, parts: list[Training], among: NDArray[np.intp]) -> Floats:
    """Logits' coefficients for each part, by EM over some items of the pool and the answered."""
    among = np.union1d(among, np.concatenate([part.rows for part in parts]))
    Q = pool.quadratic[among]
    common = pool.principal.var(axis=0)
    clamped = [(i, np.searchsorted(among, part.rows), part.Y.T) for i, part in enumerate(parts)]
    Z = pool.Z[among]
    # By part, cluster and item.
    R = np.stack([learn_lda(pool, part)(Z).T for part in parts])
    for _ in range(_ITERATIONS):
        for i, rows, Y in clamped:
            R[i][:, rows] = Y
        coefficients = maximise((R.reshape(-1, len(Q)) @ Q).reshape(*R.shape[:2], -1), common)
        new = (coefficients.reshape(-1, Q.shape[1]) @ Q.T).reshape(R.shape)
        new -= new.max(axis=1, keepdims=True)
        np.exp(new, out=new)
        new /= new.sum(axis=1, keepdims=True)
        moved = float(np.abs(new - R).mean())
        R = new
        if moved < 1e-4:
            break
    return coefficients


def maximise(moments: Floats, common: Floats) -> Floats:
    """Logits' coefficients from sums of quadratic terms, covariances shrunk to their diagonal."""
    d = len(common)
    a, b = np.triu_indices(d)
    mass = moments[..., 0] + 1e-9
    means = moments[..., 1 : d + 1] / mass[..., None]
    S = np.empty((*mass.shape, d, d))
    S[..., a, b] = moments[..., d + 1 :] / mass[..., None] - means[..., a] * means[..., b]
    S[..., b, a] = S[..., a, b]
    diagonal = np.maximum(np.einsum("...ii->...i", S), 0.0)
    share = ((d + 1.0) / (mass + d + 1.0))[..., None]
    S *= (1.0 - share)[..., None]
    S[..., np.arange(d), np.arange(d)] += share * diagonal + 0.02 * common + 1e-9
    precision = np.linalg.inv(S)
    slope = np.einsum("...ij,...j->...i", precision, means)
    constant = np.log(mass) - 0.5 * np.linalg.slogdet(S)[1] - 0.5 * (slope * means).sum(axis=-1)
    products = -precision[..., a, b] * np.where(a == b, 0.5, 1.0)
    return np.concatenate([constant[..., None], slope, products], axis=-1)
