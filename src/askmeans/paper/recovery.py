"""Memberships of a pool of items from their pairwise similarities, and a few triplets.

Gram-first (shared notes on similarity): complete the diagonal that cannot be asked, embed, and fix
the rotation by triplets; two clusters need none. Pairs alone fix it by the corners that the pool
shows, which is exact when pure items are among them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

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

__all__ = [
    "Corners",
    "Embedding",
    "Spectrum",
    "embed",
    "fill_gaps",
    "isolated_items",
    "memberships_from_corners",
    "memberships_from_triplets",
    "refine",
    "spectrum",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectrum:
    """Singular values of off-diagonal blocks, which tell how many clusters the answers show.

    `rho` is the k-th beside the first, in the best of several blocks; `snr` the k-th beside what
    noise alone would leave, in the median block; `rank` how many stand out. Never judged on the
    completed matrix, which hides coinciding clusters.
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


def fill_gaps(G: Floats, k: int, *, n_iterations: int = 200) -> Floats:
    """Similarities with what nobody could say (NaN) filled in, as rank k implies it.

    Alternates between the nearest matrix of rank k and the answers; the diagonal, which cannot be
    asked, is unknown like the gaps and comes back as 0.
    """
    gaps = np.isnan(G)
    if not gaps.any():
        return G
    unknown = gaps | np.eye(len(G), dtype=bool)
    filled = np.where(unknown, np.nanmean(np.where(unknown, np.nan, G), axis=1)[:, None], G)
    filled = (filled + filled.T) / 2
    np.fill_diagonal(filled, 1.0)
    for _ in range(n_iterations):
        values, vectors = np.linalg.eigh(filled)
        low = (vectors[:, -k:] * np.maximum(values[-k:], 0.0)) @ vectors[:, -k:].T
        moved = np.where(unknown, np.clip(low, 0.0, 1.0), filled)
        settled = np.abs(moved - filled).max() < 1e-12
        filled = moved
        if settled:
            break
    np.fill_diagonal(filled, 0.0)
    return filled


def spectrum(
    G: Floats, k: int, rng: np.random.Generator, *, sigma: float = 0.0, n_splits: int = 8
) -> Spectrum:
    """What random halvings of the pool show; `sigma` is the least noise that is known of.

    Rounding is such a noise: it is regular, so that singular values beyond the k-th can be small
    although the k-th is made of nothing else.
    """
    blocks = []
    for _ in range(n_splits):
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
    """How many singular values stand out from the noise that the middle one shows.

    2.858 times the median is the best hard threshold for a square matrix of low rank (Gavish and
    Donoho, 2014); without noise the median is nothing, and the rank itself is counted.
    """
    return int((s > max(2.858 * float(np.median(s)), floor, 1e-9 * s[0])).sum())


def embed(G: Floats, k: int, rng: np.random.Generator) -> Embedding:
    """Complete the diagonal and factor: from a rank-k guess, and from ones; the better is kept."""
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
    """Items that are like no other at all."""
    return np.flatnonzero(G.max(axis=1) < 1e-9)


def memberships_from_triplets(
    embedding: Embedding, triplets: Rows, answers: Floats, rng: np.random.Generator
) -> tuple[Floats, float] | None:
    """Memberships of the pool, and how well one rotation explains the triplets (1 when exact).

    None if these triplets do not fix a rotation.
    """
    S = fit_tensor(embedding.Z, triplets, answers, embedding.w)
    if S is None:
        return None
    Q, score = rotation_from_tensor(S, embedding.w, rng)
    return onto_simplex(embedding.Z @ Q), score


@dataclass(frozen=True, slots=True, kw_only=True)
class Corners:
    """Memberships from pairs alone, and how far others that explain the pairs as well differ.

    `ambiguity` is about the largest such difference of any membership, `spread` a typical one (root
    mean square), `most_negative` the most negative entry before rows were put on the simplex.
    """

    memberships: Floats
    ambiguity: float
    spread: float
    most_negative: float


def memberships_from_corners(
    embedding: Embedding, rng: np.random.Generator, *, n_starts: int = 10
) -> Corners:
    """Memberships of the pool from pairs alone, and how ambiguous they are.

    The vertices of the simplex are orthonormal in the embedding, so the extreme items, turned to
    the nearest such frame, give the rotation; alternating with the memberships' own non-negative
    part removes most of what impurity leaves, and what stays negative is then made least. Exact for
    two clusters, and when pure items exist.
    """
    Z, w = embedding.Z, embedding.w
    rows, steps = most_volume(Z, extreme_rows(Z, Z.shape[1])), 50
    best, least = np.eye(len(w)), np.inf
    for _ in range(n_starts):
        Q = constrained_rotation(Z[rows].T, w)
        for _ in range(steps):
            Q = constrained_rotation(Z.T @ np.maximum(Z @ Q, 0.0), w)
        Q = least_negative(Z, w, Q)
        negative = float(np.square(np.minimum(Z @ Q, 0.0)).sum())
        if negative < least:
            best, least = Q, negative
        if least < len(Z) * embedding.residual**2 + 1e-20:
            break  # answers as noisy as these ask for no more
        rows, steps = rng.choice(len(Z), len(w), replace=False), 1  # a local minimum: elsewhere
    Q = best
    ambiguity, spread = _ambiguity(embedding, Q, rng)
    return Corners(
        memberships=onto_simplex(Z @ Q),
        ambiguity=ambiguity,
        spread=spread,
        most_negative=min(float((Z @ Q).min()), 0.0),
    )


def _ambiguity(
    embedding: Embedding, Q: Floats, rng: np.random.Generator, *, n_entries: int = 10
) -> tuple[float, float]:
    """How far memberships can be turned before some turn negative: at most, and typically.

    To first order the rotations that keep them non-negative are a polytope; linear programs move
    single memberships as far as it allows. A quarter is added for what the first order leaves out.
    """
    Z, w = embedding.Z, embedding.w
    if len(w) == 2:
        return 0.0, 0.0  # no rotation is left
    D = rotation_derivatives(Z, w, Q).reshape(-1, (len(w) - 1) * (len(w) - 2) // 2)
    F = (Z @ Q).ravel()
    room = np.maximum(F, 0.0) + max(1e-9, 3.0 * embedding.residual)
    moves = [np.zeros(len(F))]
    for entry in rng.choice(len(F), min(n_entries, len(F)), replace=False):
        for sign in (1.0, -1.0):
            best = linprog(sign * D[entry], A_ub=-D, b_ub=room, bounds=(-1.5, 1.5))
            if best.x is not None:
                moves.append(1.25 * np.abs(D @ best.x))
    spreads = np.sqrt(np.square(moves).mean(axis=1))
    return float(np.max(moves)), float(spreads[1:].mean()) if len(moves) > 1 else 0.0


def refine(
    F: Floats, G: Floats, triplets: Rows, answers: Floats, *, n_sweeps: int = 60
) -> tuple[Floats, float]:
    """Fit every row in turn to all its pairs and triplets; memberships, and what is left over.

    Alternating least squares under the simplex. Unknown similarities are NaN. The second is the
    root mean square of what the memberships do not explain.
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
    left = (F @ F.T - G)[known]
    return F, float(np.sqrt(np.square(left).mean()))


def _diagonal_guess(G: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Each item's similarity to itself as rank k implies it: the median over random halvings."""
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
