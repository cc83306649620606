"""Jennrich's algorithm on three disjoint sets of items: the paper's own route from triplets alone.

Algorithm 9 wants a symmetric tensor, which triplets of distinct items cannot fill (paper note N4).
Three disjoint sets A, B, C give an asymmetric one of rank k, T[a, b, c] = sum_r A_ar B_br C_cr, and
the same algorithm. Exact without noise; recovery.py is more robust for as many questions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eig

from askmeans._util.arrays import Floats, Rows
from askmeans.exceptions import LittleInformationWarning, RankError
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.paper.known import Similarities
from askmeans.paper.plan import Asking
from askmeans.results import warn

# Heuristic limits; benchmarks/similarity.py measures their effect.
_NO_RANK = 1e-6  # a k-th singular value below this share of the first counts as 0
_LEAST_RATIO = 1e-2  # below this, other items are drawn
_LEAST_SNR = 1.5  # below this, the k-th direction is noise
_DRAWS = 5  # at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """Memberships of the three sets, their clusters in one order.

    `residual` is the root mean square error; `ratio` the smallest ratio of the k-th singular value
    of an unfolding to its first: below 1e-2 other items should be drawn. `snr` is the smallest
    ratio of the k-th to the next.
    """

    A: Floats
    B: Floats
    C: Floats
    residual: float
    ratio: float
    snr: float


class ThreeSets:
    """The pool of this route: three sets of 2 k items, drawn again while they are ill-conditioned.

    They are also drawn again if too many answers are missing, or a set misses a cluster.
    """

    def __init__(
        self, similar: Similarities, k: int, rng: np.random.Generator, *, noisy: bool | None
    ) -> None:
        self.noisy = noisy
        self.similar = similar
        self.k = k
        self.rng = rng
        self.items: Rows = np.empty(0, dtype=np.intp)
        self.memberships: Floats | None = None
        self.diagnostics: dict[str, Any] = {}

    def ask(self, queue: Rows) -> Asking[None]:
        """Ask all triplets across three sets from the queue, until they determine k clusters."""
        size, poor = 2 * self.k, None
        for start in range(0, min(_DRAWS * 3 * size, len(queue) - 3 * size + 1), 3 * size):
            sets = queue[start : start + 3 * size].reshape(3, size)
            grid = np.stack(np.meshgrid(*sets, indexing="ij"), axis=-1)
            answers = yield from self.similar.ask_triplets(grid.reshape(-1, 3))
            try:
                T, kept = _without_gaps(answers.reshape(size, size, size), self.k)
                factors = memberships_by_jennrich(T, self.rng, self.k)
            except RankError as error:
                poor = error
                continue
            if factors.ratio > self.diagnostics.get("ratio", 0.0):
                self._take(factors, [s[k] for s, k in zip(sets, kept, strict=True)])
            if factors.ratio >= _LEAST_RATIO:
                break
        if self.memberships is None:
            assert poor is not None
            raise poor
        if self.diagnostics["snr"] < _LEAST_SNR:
            warn(
                f"The answers hardly tell {self.k} clusters apart (signal to noise "
                f"{self.diagnostics['snr']:.2f}), so the result carries little information. Ask on "
                "a finer scale, or for fewer clusters.",
                LittleInformationWarning,
                self.similar.notes,
            )

    def _take(self, factors: Factors, sets: list[Rows]) -> None:
        """Keep the result of a draw: a later stop must not lose it."""
        self.items = np.concatenate(sets)
        self.memberships = np.vstack([factors.A, factors.B, factors.C])
        self.diagnostics = {
            "pool": len(self.items),
            "ratio": factors.ratio,
            "snr": factors.snr,
            "residual": factors.residual,
            "sigma": factors.residual,
        }


def _without_gaps(T: Floats, k: int) -> tuple[Floats, list[Rows]]:
    """The tensor without items with missing answers, the worst first, and the remaining items."""
    kept = [np.arange(size) for size in T.shape]
    while np.isnan(T).any():
        gaps = [np.isnan(T).mean(axis=tuple({0, 1, 2} - {mode})) for mode in range(3)]
        mode = int(np.argmax([g.max() if len(g) > k else -1.0 for g in gaps]))
        if len(gaps[mode]) <= k:
            raise RankError(
                f"Three sets of {k} items must be comparable with each other: too many questions "
                "had no answer. Ask another annotator, or use route='triplet'."
            )
        worst = int(gaps[mode].argmax())
        T = np.delete(T, worst, axis=mode)
        kept[mode] = np.delete(kept[mode], worst)
    return T, kept


def memberships_by_jennrich(
    T: Floats, rng: np.random.Generator, k: int, *, n_draws: int = 20
) -> Factors:
    """Memberships of three sets of items from all triplets across them (m_a x m_b x m_c).

    A set has at least k items; 2 k are recommended. Of `n_draws` pairs of contractions the one with
    the lowest residual is kept. A set without k independent clusters raises a RankError.

    >>> rng = np.random.default_rng(0)
    >>> A, B, C = rng.dirichlet([1.0, 1.0], size=(3, 4))
    >>> factors = memberships_by_jennrich(np.einsum("ar,br,cr->abc", A, B, C), rng, 2)
    >>> factors.residual < 1e-12
    True
    """
    bases, ratio, snr = _bases(T, k)
    U_a, U_b, U_c = bases
    core: Floats = np.einsum("abc,ai,bj,cl->ijl", T, U_a, U_b, U_c, optimize=True)
    best: Factors | None = None
    for _ in range(n_draws):
        Z_a = _columns(core, rng)
        # Z_a^-1 removes the first mode: the rest of cluster r is b_r c_r', of rank one.
        left, _, right = np.linalg.svd(np.einsum("ri,ijl->rjl", np.linalg.pinv(Z_a), core))
        Z_b, Z_c = left[:, :, 0].T, right[:, 0, :].T
        A, B, C = (_scaled(U @ Z) for U, Z in ((U_a, Z_a), (U_b, Z_b), (U_c, Z_c)))
        error = np.einsum("ar,br,cr->abc", A, B, C, optimize=True) - T
        residual = float(np.sqrt(np.square(error).mean()))
        if best is None or residual < best.residual:
            best = Factors(A=A, B=B, C=C, residual=residual, ratio=ratio, snr=snr)
    assert best is not None
    return best


def _bases(T: Floats, k: int) -> tuple[list[Floats], float, float]:
    """Leading singular vectors of every unfolding (HOSVD), and the smallest ratios of their values.

    This is Alg 9's test of the rank (line 3), made before anything random is drawn.
    """
    bases, ratios, gaps = [], [], []
    for mode in range(3):
        unfolded = np.moveaxis(T, mode, 0).reshape(T.shape[mode], -1)
        U, s, _ = np.linalg.svd(unfolded, full_matrices=False)
        if s[k - 1] < _NO_RANK * s[0] or s[0] == 0.0:
            rank = int((s > _NO_RANK * s[0]).sum())
            raise RankError(
                f"The answers must tell {k} clusters apart. Got triplets of rank {rank}; ask for "
                f"{max(rank, 1)} clusters, or for other items."
            )
        bases.append(U[:, :k])
        ratios.append(float(s[k - 1] / s[0]))
        gaps.append(float(s[k - 1] / max(s[k], 1e-300)) if len(s) > k else np.inf)
    return bases, min(ratios), min(gaps)


def _columns(core: Floats, rng: np.random.Generator) -> Floats:
    """The first factor's columns, each up to its scale, from two contractions (Alg 9, lines 1-6).

    T1 = A diag(C'a) B' and T2 = A diag(C'b) B', so an eigenvector v of T1 v = lambda T2 v is a
    column of B^-T, not of A; the column of A is T2 v (paper note N19).
    """
    a, b = rng.normal(size=(2, core.shape[2]))
    T1, T2 = core @ (a / np.linalg.norm(a)), core @ (b / np.linalg.norm(b))
    values, vectors = eig(T1, T2)
    # With noise two close eigenvalues become a complex pair; its real and imaginary part span the
    # same.
    real = np.where(values.imag < 0.0, vectors.imag, vectors.real)
    columns: Floats = T2 @ real
    return columns


def _scaled(F: Floats) -> Floats:
    """Scale columns so that rows sum to one, by least squares (paper note N19)."""
    scale = np.linalg.lstsq(F, np.ones(len(F)), rcond=None)[0]
    return onto_simplex(F * scale)
