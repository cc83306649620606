"""Memberships of a pool of items from their pairwise similarities, and a few triplets.

Gram-first (shared notes on similarity): complete the diagonal that cannot be asked, embed, and fix
the rotation by triplets; two clusters need none. Pairs alone fix it by the corners that the pool
shows, which is exact when pure items are among them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm, null_space

from askmeans.fuzzy.simplex import onto_simplex
from askmeans.wrappers.geometry import (
    constrained_rotation,
    extreme_rows,
    fit_tensor,
    rotation_from_tensor,
    simplex_least_squares,
)

__all__ = [
    "Embedding",
    "Spectrum",
    "embed",
    "fill_gaps",
    "hermits",
    "memberships_from_corners",
    "memberships_from_triplets",
    "refine",
    "spectrum",
    "suggest_clusters",
    "triplets_needed",
]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectrum:
    """Singular values of an off-diagonal block, which tell how many clusters the answers show.

    `rho` is the k-th beside the first, `snr` the k-th beside what noise alone would leave. Never
    judged on the completed matrix, which hides coinciding clusters.
    """

    values: Floats
    rho: float
    snr: float


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


def spectrum(G: Floats, k: int, rng: np.random.Generator, *, n_splits: int = 8) -> Spectrum:
    """The best of several random halvings of the pool."""
    best: Spectrum | None = None
    for _ in range(n_splits):
        order = rng.permutation(len(G))
        half = len(G) // 2
        block = G[np.ix_(order[:half], order[half:])]
        s: Floats = np.linalg.svd(block, compute_uv=False).astype(np.float64)
        rows, columns = block.shape
        free = (rows - k) * (columns - k)
        noise = np.sqrt(np.square(s[k:]).sum() / free) if free > 0 else 0.0
        floor = noise * (np.sqrt(rows) + np.sqrt(columns))
        snr = float(s[k - 1] / floor) if floor > 0.0 else np.inf
        found = Spectrum(values=s, rho=float(s[k - 1] / max(s[0], 1e-300)), snr=snr)
        if best is None or found.rho > best.rho:
            best = found
    assert best is not None
    return best


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


def hermits(G: Floats) -> Rows:
    """Items that are like no other at all."""
    return np.flatnonzero(G.max(axis=1) < 1e-9)


def triplets_needed(k: int) -> int:
    """Triplets that fix a rotation: free entries of a symmetric tensor S with S(., ., w) = I."""
    return k * (k + 1) * (k + 2) // 6 - k * (k + 1) // 2


def memberships_from_triplets(
    embedding: Embedding, triplets: Rows, answers: Floats, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Memberships of the pool, and how well one rotation explains the triplets (1 when exact)."""
    S = fit_tensor(embedding.Z, triplets, answers, embedding.w)
    Q, score = rotation_from_tensor(S, embedding.w, rng)
    return onto_simplex(embedding.Z @ Q), score


def memberships_from_corners(
    embedding: Embedding, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Memberships of the pool from pairs alone, and how ambiguous they are.

    The vertices of the simplex are orthonormal in the embedding, so the extreme items, turned to
    the nearest such frame, give the rotation; alternating with the memberships' own non-negative
    part removes most of what impurity leaves. Exact for two clusters, and when pure items exist.
    Otherwise other rotations explain the pairs as well, with memberships that are as little
    negative; the ambiguity is the largest difference such a one makes to any membership.
    """
    Z, w = embedding.Z, embedding.w
    Q = constrained_rotation(Z[extreme_rows(Z, Z.shape[1])].T, w)
    for _ in range(500):
        moved = constrained_rotation(Z.T @ np.maximum(Z @ Q, 0.0), w)
        settled = np.abs(moved - Q).max() < 1e-13
        Q = moved
        if settled:
            break
    return onto_simplex(Z @ Q), _ambiguity(embedding, Q, rng)


def _ambiguity(
    embedding: Embedding, Q: Floats, rng: np.random.Generator, *, n_directions: int = 40
) -> float:
    """How far a rotation can be turned, in random directions, until memberships turn negative."""
    Z, w = embedding.Z, embedding.w
    k = len(w)
    if k == 2:
        return 0.0  # no rotation is left
    outside, inside = null_space(w[None]), null_space(np.ones((1, k)))
    fixed = np.outer(w / np.linalg.norm(w), np.full(k, k**-0.5))
    inner = outside.T @ Q @ inside
    F = Z @ Q
    floor = min(float(F.min()), 0.0) - max(1e-9, 3.0 * embedding.residual)

    def turned(direction: Floats, angle: float) -> Floats:
        """Memberships after turning by an angle."""
        memberships: Floats = Z @ (fixed + outside @ inner @ expm(angle * direction) @ inside.T)
        return memberships

    widest = 0.0
    for number in range(2 if k == 3 else n_directions):
        skew = rng.normal(size=(k - 1, k - 1))
        skew = (skew - skew.T) * (1.0 if number % 2 else -1.0)
        if k == 3:  # there is one direction, and its opposite
            skew = np.array([[0.0, 1.0], [-1.0, 0.0]]) * (1.0 if number else -1.0)
        skew /= np.linalg.norm(skew, ord=2)
        low, high = 0.0, np.pi / 2
        for _ in range(30):
            middle = (low + high) / 2
            if turned(skew, middle).min() >= floor:
                low = middle
            else:
                high = middle
        widest = max(widest, float(np.abs(turned(skew, low) - F).max()))
    return widest


def suggest_clusters(values: Floats) -> int:
    """How many clusters the singular values of an off-diagonal block show: the widest gap."""
    known = values[values > 1e-9 * values[0]]
    if len(known) < len(values):
        return len(known)  # exact answers: the rank itself
    return int(np.argmax(known[:-1] / known[1:])) + 1


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
    told = ~np.isnan(answers)
    triplets, answers = triplets[told], answers[told]
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
