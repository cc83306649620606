"""Memberships of a pool of items from their pairwise similarities, and a few triplets.

Gram-first: complete the diagonal, which cannot be asked, embed, and determine the rotation from
triplets; two clusters need none. From pairs alone the rotation follows from the corners of the
pool, exactly if pure items are among them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.paper.geometry import (
    constrained_rotation,
    extreme_rows,
    fit_tensor,
    least_negative,
    most_volume,
    rotation_derivatives,
    rotation_from_tensor,
    simplex_least_squares,
)

_FILLING = 200  # iterations that complete a matrix with gaps, at most
_SPLITS = 8  # random halves of the pool whose singular values are compared
_STARTS = 10  # of the search for a rotation from corners, at most
_ENTRIES = 10  # memberships whose ambiguity is measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectrum:
    """Singular values of off-diagonal blocks, which indicate the number of clusters.

    `rho` is the ratio of the k-th to the first, in the best of several blocks; `snr` the ratio of
    the k-th to that of noise alone, in the median block; `rank` the number that exceed the noise.
    The completed matrix is not used: it hides coinciding clusters.
    """

    values: Floats
    rho: float
    snr: float
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """Z with Z Z' near the similarities, and w with Z w near 1."""

    Z: Floats
    w: Floats
    residual: float


def fill_gaps(G: Floats, k: int) -> Floats:
    """Fill in missing similarities (NaN) by a matrix of rank k.

    Alternates between the nearest matrix of rank k and the answers; the diagonal, which cannot be
    asked, is unknown, too, and 0 in the result.
    """
    gaps = np.isnan(G)
    if not gaps.any():
        return G
    unknown = gaps | np.eye(len(G), dtype=bool)
    filled = np.where(unknown, np.nanmean(np.where(unknown, np.nan, G), axis=1)[:, None], G)
    filled = (filled + filled.T) / 2
    np.fill_diagonal(filled, 1.0)
    for _ in range(_FILLING):
        values, vectors = np.linalg.eigh(filled)
        low = (vectors[:, -k:] * np.maximum(values[-k:], 0.0)) @ vectors[:, -k:].T
        moved = np.where(unknown, np.clip(low, 0.0, 1.0), filled)
        settled = np.abs(moved - filled).max() < 1e-12
        filled = moved
        if settled:
            break
    np.fill_diagonal(filled, 0.0)
    return filled


def spectrum(G: Floats, k: int, rng: np.random.Generator, *, sigma: float = 0.0) -> Spectrum:
    """The spectrum from random halves of the pool; `sigma` is a lower bound of the noise.

    Rounding is such a noise: it is regular, so that singular values beyond the k-th can be small
    although the k-th consists of nothing else.
    """
    blocks = []
    for _ in range(_SPLITS):
        order, half = rng.permutation(len(G)), len(G) // 2
        s: Floats = np.linalg.svd(G[np.ix_(order[:half], order[half:])], compute_uv=False).astype(
            np.float64
        )
        blocks.append(s)
    rows, columns = half, len(G) - half
    ratios, ranks = [], []
    for s in blocks:
        free = (rows - k) * (columns - k)
        noise = max(sigma, np.sqrt(np.square(s[k:]).sum() / free) if free > 0 else 0.0)
        floor = noise * (np.sqrt(rows) + np.sqrt(columns))
        ratios.append(s[k - 1] / floor if floor > 0.0 else np.inf)
        ranks.append(_standing_out(s, sigma * (np.sqrt(rows) + np.sqrt(columns))))
    best = max(blocks, key=lambda s: s[k - 1] / max(s[0], 1e-300))
    return Spectrum(
        values=best,
        rho=float(best[k - 1] / max(best[0], 1e-300)),
        snr=float(np.median(ratios)),
        rank=int(np.median(ranks)),
    )


def _standing_out(s: Floats, floor: float) -> int:
    """The number of singular values that exceed the noise, estimated by the median.

    2.858 times the median is the best hard threshold for a square matrix of low rank (Gavish and
    Donoho, 2014); without noise the median is 0, and the result is the rank.
    """
    return int((s > max(2.858 * float(np.median(s)), floor, 1e-9 * s[0])).sum())


def embed(G: Floats, k: int, rng: np.random.Generator) -> Embedding:
    """Complete the diagonal, from a rank-k estimate and from ones, and factor; keep the better."""
    embeddings = []
    for diagonal in (_diagonal_guess(G, k, rng), np.ones(len(G))):
        completed = G.copy()
        for _ in range(100):
            np.fill_diagonal(completed, diagonal)
            values, vectors = np.linalg.eigh(completed)
            moved = np.clip(np.square(vectors[:, -k:]) @ np.maximum(values[-k:], 0.0), 1 / k, 1.0)
            settled = np.abs(moved - diagonal).max() < 1e-14
            diagonal = moved
            if settled:
                break
        np.fill_diagonal(completed, diagonal)
        values, vectors = np.linalg.eigh(completed)
        Z = vectors[:, -k:] * np.sqrt(np.maximum(values[-k:], 0.0))
        w = np.linalg.lstsq(Z, np.ones(len(Z)), rcond=None)[0]
        off = Z @ Z.T - completed
        np.fill_diagonal(off, 0.0)
        residual = float(np.sqrt(np.square(off).mean()) + np.sqrt(np.square(Z @ w - 1).mean()))
        embeddings.append(Embedding(Z=Z, w=w, residual=residual))
        if residual < 1e-10:
            break
    return min(embeddings, key=lambda embedding: embedding.residual)


def isolated_items(G: Floats) -> Rows:
    """Items that are not similar to any other."""
    return np.flatnonzero(G.max(axis=1) < 1e-9)


def memberships_from_triplets(
    embedding: Embedding, triplets: Rows, answers: Floats, rng: np.random.Generator
) -> tuple[Floats, float] | None:
    """Memberships of the pool, and how well one rotation explains the triplets (1 if exact).

    None if these triplets do not determine a rotation.
    """
    S = fit_tensor(embedding.Z, triplets, answers, embedding.w)
    if S is None:
        return None
    Q, score = rotation_from_tensor(S, embedding.w, rng)
    return onto_simplex(embedding.Z @ Q), score


@dataclass(frozen=True, slots=True, kw_only=True)
class Corners:
    """Memberships from pairs alone, and their ambiguity.

    `ambiguity` is about the largest difference of a membership to other solutions that explain the
    pairs as well, `spread` a typical one (root mean square), `most_negative` the most negative
    entry before rows were projected onto the simplex.
    """

    memberships: Floats
    ambiguity: float
    spread: float
    most_negative: float


def memberships_from_corners(embedding: Embedding, rng: np.random.Generator) -> Corners:
    """Memberships of the pool from pairs alone, and how ambiguous they are.

    The vertices of the simplex are orthonormal in the embedding, so the nearest such frame to the
    extreme items gives the rotation; alternating with the non-negative part of the memberships
    removes most of the error of impure items, and the remaining negative part is then minimised.
    Exact for two clusters, and if pure items exist.
    """
    Z, w = embedding.Z, embedding.w
    rows, steps = most_volume(Z, extreme_rows(Z, Z.shape[1])), 50
    best, least = np.eye(len(w)), np.inf
    for _ in range(_STARTS):
        Q = constrained_rotation(Z[rows].T, w)
        for _ in range(steps):
            Q = constrained_rotation(Z.T @ np.maximum(Z @ Q, 0.0), w)
        Q = least_negative(Z, w, Q)
        negative = float(np.square(np.minimum(Z @ Q, 0.0)).sum())
        if negative < least:
            best, least = Q, negative
        if least < len(Z) * embedding.residual**2 + 1e-20:
            break  # within the noise of the answers
        rows, steps = (
            rng.choice(len(Z), len(w), replace=False),
            1,
        )  # to leave a local minimum
    Q = best
    ambiguity, spread = _ambiguity(embedding, Q, rng)
    return Corners(
        memberships=onto_simplex(Z @ Q),
        ambiguity=ambiguity,
        spread=spread,
        most_negative=min(float((Z @ Q).min()), 0.0),
    )


def _ambiguity(embedding: Embedding, Q: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """The largest and the typical change of memberships by rotations that keep them non-negative.

    To first order these rotations are a polytope; linear programs move single memberships as far as
    possible. A quarter is added for higher orders.
    """
    Z, w = embedding.Z, embedding.w
    if len(w) == 2:
        return 0.0, 0.0  # no rotation is left
    D = rotation_derivatives(Z, w, Q).reshape(-1, (len(w) - 1) * (len(w) - 2) // 2)
    F = (Z @ Q).ravel()
    room = np.maximum(F, 0.0) + max(1e-9, 3.0 * embedding.residual)
    moves = [np.zeros(len(F))]
    for entry in rng.choice(len(F), min(_ENTRIES, len(F)), replace=False):
        for sign in (1.0, -1.0):
            best = linprog(sign * D[entry], A_ub=-D, b_ub=room, bounds=(-1.5, 1.5))
            if best.x is not None:
                moves.append(1.25 * np.abs(D @ best.x))
    spreads = np.sqrt(np.square(moves).mean(axis=1))
    return float(np.max(moves)), float(spreads[1:].mean()) if len(moves) > 1 else 0.0


def refine(F: Floats, G: Floats, triplets: Rows, answers: Floats, *, n_sweeps: int = 60) -> Floats:
    """Fit the memberships of every item in turn to all its pairs and triplets.

    Alternating least squares on the simplex. Unknown similarities are NaN.
    """
    F = F.copy()
    known = ~np.isnan(G) & ~np.eye(len(G), dtype=bool)
    pairs_of = [np.flatnonzero(row) for row in known]
    answered = ~np.isnan(answers)
    triplets, answers = triplets[answered], answers[answered]
    for _ in range(n_sweeps):
        before = F.copy()
        for i, others in enumerate(pairs_of):
            design, target = F[others], G[i, others]
            mine = np.flatnonzero((triplets == i).any(axis=1))
            if len(mine):
                rest = triplets[mine][triplets[mine] != i].reshape(-1, 2)
                design = np.vstack([design, F[rest[:, 0]] * F[rest[:, 1]]])
                target = np.concatenate([target, answers[mine]])
            F[i] = simplex_least_squares(design, target)
        if np.abs(F - before).max() < 1e-12:
            break
    return F


def _diagonal_guess(G: Floats, k: int, rng: np.random.Generator) -> Floats:
    """The similarity of each item to itself implied by rank k: the median over random halves."""
    guesses = np.empty((5, len(G)))
    for guess in guesses:
        order = rng.permutation(len(G))
        half = len(G) // 2
        for mine, other in ((order[:half], order[half:]), (order[half:], order[:half])):
            for i in mine:
                rest = mine[mine != i]
                U, s, Vt = np.linalg.svd(G[np.ix_(rest, other)], full_matrices=False)
                keep = s[:k] > 1e-12 * s[0]
                inverse = (Vt[:k][keep].T / s[:k][keep]) @ U[:, :k][:, keep].T
                guess[i] = G[i, other] @ inverse @ G[rest, i]
    clipped: Floats = np.clip(np.median(guesses, axis=0), 1 / k, 1.0)
    return clipped
