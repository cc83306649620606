"""Geometry of memberships and similarities: pure functions of small arrays.

Notation: F holds memberships (P x k, rows on the simplex), G = F F' their similarities, Z an
embedding with G = Z Z'. Then F = Z Q for an orthogonal Q, and Z w = 1 gives Q 1 = w, |w|^2 = k.
"""

import itertools
import math

import numpy as np
from scipy.linalg import expm, null_space
from scipy.optimize import nnls

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.arrays import without_last_bits

# Heuristic limits; tests/paper/test_wrong_pairs.py has their effect.
_FAR, _LEAST_FAR = 5.0, 0.3  # deviations, and similarity, up to which an answer is plausible
_ILL_POSED = 1e-4  # a system whose least singular value is a smaller share of the largest
_STEPS = 60  # of Levenberg and Marquardt's method, at most
_STARTS = 20  # of the search for a rotation from triplets, at most


def simplex_least_squares(design: Floats, target: Floats) -> Floats:
    """The exact minimiser of |D x - t| over x >= 0 that sums to one.

    On the simplex D x - t = (D - t 1') x, so the ratio |(D - t 1') x| / sum(x) is what has to be
    small; non-negative least squares against [0; 1] finds its direction.
    """
    Q, R = np.linalg.qr(design)
    shifted = R - (Q.T @ target)[:, None]
    scale = float(np.linalg.norm(R)) or 1.0
    system = np.vstack([shifted / scale, np.ones(design.shape[1])])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    x = nnls(system, goal)[0]
    weights: Floats = x / x.sum()
    return weights


def plausible_deviation(deviation: float) -> float:
    """The largest plausible deviation of an answer, given the usual deviation of the others."""
    return max(_FAR * deviation, _LEAST_FAR)


def robust_simplex_least_squares(design: Floats, target: Floats) -> Floats:
    """The same without one target that is implausible given all others, if there is one."""
    n, k = design.shape
    if n < k + 2:
        return simplex_least_squares(design, target)
    best, least, own = simplex_least_squares(design, target), np.inf, 0.0
    unweighted = best
    for j in range(n):
        others = np.arange(n) != j
        x = simplex_least_squares(design[others], target[others])
        left = np.abs(design @ x - target)
        rms = math.sqrt(float(np.square(left[others]).sum()) / (n - k))
        if rms < least:
            best, least, own = x, rms, float(left[j])
    return best if own > plausible_deviation(least) else unweighted


def constrained_rotation(V: Floats, w: Floats) -> Floats:
    """The orthogonal Q nearest to V among those with Q 1 parallel to w.

    A polar step in the complements of 1 and w, where Q is free.
    """
    k = len(w)
    ones, along = np.full(k, k**-0.5), w / np.linalg.norm(w)
    inside, outside = null_space(ones[None]), null_space(along[None])
    left, _, right = np.linalg.svd(outside.T @ V @ inside)
    Q: Floats = np.outer(along, ones) + outside @ (left @ right) @ inside.T
    return Q


def extreme_rows(Z: Floats, size: int) -> Rows:
    """Rows that span the most volume, by repeated pivoted QR."""
    left = np.arange(len(Z))
    chosen: list[int] = []
    while len(chosen) < size and len(left):
        pivots = _pivots(Z[left], min(Z.shape[1], size - len(chosen), len(left)))
        chosen.extend(left[pivots].tolist())
        left = np.delete(left, pivots)
    return np.array(chosen, dtype=np.intp)


def _pivots(Z: Floats, size: int) -> list[int]:
    """The pivots of a QR decomposition of Z'; LAPACK's depend on the last bits if rows tie."""
    rest, pivots = Z.copy(), list[int]()
    least = 1e-24 * float(np.square(Z).sum())  # of squares: rounding only
    for _ in range(size):
        squares = np.square(rest).sum(axis=1)
        squares = np.where(squares > least, without_last_bits(squares), 0.0)
        squares[pivots] = -1.0
        pivots.append(int(squares.argmax()))
        if squares[pivots[-1]] > 0.0:
            along = rest[pivots[-1]] / np.linalg.norm(rest[pivots[-1]])
            rest -= np.outer(rest @ along, along)
    return pivots


def most_volume(Z: Floats, rows: Rows) -> Rows:
    """Exchange rows one by one while that increases the volume that they span."""
    rows = rows.copy()
    if np.linalg.matrix_rank(Z[rows]) < len(rows):
        return rows
    for _ in range(100 * len(rows)):
        # Row p in place of the i-th multiplies the volume by gains[i, p].
        gains = np.abs(np.linalg.solve(Z[rows].T, Z.T))
        i, p = np.unravel_index(without_last_bits(gains).argmax(), gains.shape)
        if gains[i, p] <= 1.0 + 1e-9:
            break
        rows[i] = p
    return rows


def rotation_derivatives(Z: Floats, w: Floats, Q: Floats) -> Floats:
    """Derivatives of Z Q by the rotations of Q that keep w (P x k x rotations).

    Q = w 1' / k + outside R inside', and R turns by R S with S skew-symmetric.
    """
    k = len(w)
    inside, outside = null_space(np.ones((1, k))), null_space(w[None])
    left = Z @ outside @ (outside.T @ Q @ inside)
    changes: Floats = np.einsum("pa,sab,cb->pcs", left, _skew_basis(k - 1), inside)
    return changes


def least_negative(Z: Floats, w: Floats, Q: Floats) -> Floats:
    """Rotate Q to minimise the negative part of Z Q, by Levenberg and Marquardt's method."""
    k = len(w)
    if k == 2:
        return Q  # no rotation is left
    inside = null_space(np.ones((1, k)))
    F = Z @ Q
    loss, damping = float(np.square(np.minimum(F, 0.0)).sum()), 1e-3
    for _ in range(_STEPS):
        if loss < 1e-26:
            break
        J = rotation_derivatives(Z, w, Q)[F < 0.0]
        gradient, curvature = J.T @ F[F < 0.0], J.T @ J
        scale = max(float(np.trace(curvature)) / len(curvature), 1e-12)
        for _ in range(8):
            step = -np.linalg.solve(curvature + damping * scale * np.eye(len(curvature)), gradient)
            turn = expm(np.tensordot(step, _skew_basis(k - 1), 1)) - np.eye(k - 1)
            moved = Q + Q @ inside @ turn @ inside.T
            left = float(np.square(np.minimum(Z @ moved, 0.0)).sum())
            if left < loss:
                break
            damping *= 10.0
        if left >= loss or loss - left < 1e-12 * loss:
            break
        damping = max(damping / 10.0, 1e-12)
        Q, F, loss = moved, Z @ moved, left
    return Q


def _skew_basis(size: int) -> Floats:
    """The skew-symmetric matrices with one 1 below the diagonal."""
    rows, columns = np.tril_indices(size, -1)
    basis = np.zeros((len(rows), size, size))
    basis[np.arange(len(rows)), rows, columns] = 1.0
    basis[np.arange(len(rows)), columns, rows] = -1.0
    return basis


def fit_tensor(Z: Floats, triplets: Rows, answers: Floats, w: Floats) -> Floats | None:
    """The symmetric tensor S with S(z_a, z_b, z_c) nearest to the answers, and S(., ., w) = I.

    S = sum_r q_r x q_r x q_r with q_r the columns of Q, and q_r . w = 1, whence the constraint. It
    is met exactly, in its null space; the answers by least squares. None if S is not determined.
    """
    k = Z.shape[1]
    triples = np.array(list(itertools.combinations_with_replacement(range(k), 3)))
    orders = [np.array(order) for order in itertools.permutations(range(3))]

    def rows(a: Floats, b: Floats, c: Floats) -> Floats:
        """Coefficients of the tensor's free entries in S(a, b, c), one row for each triple."""
        factors = (a, b, c)
        total = sum(
            factors[0][:, triples[:, o[0]]]
            * factors[1][:, triples[:, o[1]]]
            * factors[2][:, triples[:, o[2]]]
            for o in orders
        )
        repeats = np.array([6 // len(set(itertools.permutations(t))) for t in triples.tolist()])
        coefficients: Floats = total / repeats
        return coefficients

    first, second = np.triu_indices(k)
    identity = np.eye(k)
    pairs = rows(identity[first], identity[second], np.tile(w, (len(first), 1)))
    wanted = (first == second).astype(np.float64)
    start = np.linalg.lstsq(pairs, wanted, rcond=None)[0]
    free = null_space(pairs)
    products = rows(Z[triplets[:, 0]], Z[triplets[:, 1]], Z[triplets[:, 2]])
    step, _, rank, values = np.linalg.lstsq(products @ free, answers - products @ start, rcond=None)
    if rank < free.shape[1] or values[-1] < _ILL_POSED * values[0]:
        return None
    entries = start + free @ step
    S = np.empty((k, k, k))
    for order in orders:
        S[tuple(triples[:, order].T)] = entries
    return S


def rotation_from_tensor(S: Floats, w: Floats, rng: np.random.Generator) -> tuple[Floats, float]:
    """The Q for which sum_r S(q_r, q_r, q_r) is largest, and that sum over k (1 when exact)."""
    k = len(w)
    best, score = np.eye(k), -np.inf
    for _ in range(_STARTS):
        Q = constrained_rotation(rng.normal(size=(k, k)), w)
        for _ in range(200):
            moved = constrained_rotation(np.einsum("ijl,ir,jr->lr", S, Q, Q), w)
            settled = np.abs(moved - Q).max() < 1e-14
            Q = moved
            if settled:
                break
        value = float(np.einsum("ijl,ir,jr,lr->", S, Q, Q, Q)) / k
        if value > score:
            best, score = Q, value
        if abs(score - 1.0) < 1e-12:
            break  # exact: no other start can be better
    return best, score
