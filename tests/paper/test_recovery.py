"""Memberships of a pool from its similarities: spectrum, embedding, triplets, corners, refining."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from soaking import in_soak

from askmeans.metrics import match_clusters
from askmeans.paper.recovery import (
    embed,
    memberships_from_corners,
    memberships_from_triplets,
    refine,
    spectrum,
)


def similarities(F, *, sigma=0.0, seed=0):
    """All pairs; the diagonal, which nobody can be asked, is 0."""
    noise = np.random.default_rng(seed).normal(scale=sigma, size=(len(F), len(F)))
    G = np.clip(F @ F.T + np.triu(noise, 1) + np.triu(noise, 1).T, 0.0, 1.0)
    np.fill_diagonal(G, 0.0)
    return G


def pool(k, seed, *, alpha=1.0, size=None):
    return np.random.default_rng(seed).dirichlet(np.full(k, alpha), size=size or 6 * k)


def triplets_of(F, size):
    triplets = np.array(list(itertools.combinations(range(size), 3)))
    return triplets, F[triplets].prod(axis=1).sum(axis=1)


def residual(F, G):
    """Root mean square of the residuals of the known pairs."""
    left = (F @ F.T - G)[~np.eye(len(G), dtype=bool)]
    return np.sqrt(np.nanmean(np.square(left)))


def worst_error(found, F):
    return np.abs(found[:, match_clusters(F, found)] - F).max()


# ---- the spectrum -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(2, 11))
def test_exact_similarities_show_as_many_clusters_as_there_are(k):
    for seed in range(10):
        seen = spectrum(similarities(pool(k, seed)), k, np.random.default_rng(seed))
        assert seen.rank == k
        assert seen.rho > 1e-4
        assert seen.snr > 1e6


@pytest.mark.parametrize("k", [3, 5, 8])
def test_a_cluster_split_evenly_in_two_leaves_no_rank(k):
    for seed in range(20):
        F = pool(k - 1, seed, size=6 * k)
        F = np.column_stack([F[:, :-1], F[:, -1] / 2, F[:, -1] / 2])
        seen = spectrum(similarities(F), k, np.random.default_rng(seed))
        assert seen.rho < 1e-12
        assert seen.rank == k - 1


def test_noise_lowers_what_the_spectrum_says_of_the_signal():
    F = pool(3, seed=0)
    snrs = [
        spectrum(similarities(F, sigma=sigma), 3, np.random.default_rng(0)).snr
        for sigma in (0.001, 0.01, 0.1)
    ]
    assert snrs[0] > 5.0 * snrs[1] > 25.0 * snrs[2]


def test_pure_noise_has_no_signal():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=(24, 24))
        assert spectrum(noise + noise.T, 4, rng).snr < 1.3


@pytest.mark.parametrize("levels", [5, 11])
def test_a_cluster_split_in_two_is_no_signal_on_a_scale(levels):
    # Rounding is regular: what it leaves behind the k-th singular value says little of it.
    sigma = 1.0 / (levels - 1) / 12**0.5
    for seed in range(20):
        F = pool(3, seed, size=32)
        split = np.column_stack([F[:, :-1], F[:, -1] / 2, F[:, -1] / 2])
        snrs, ranks = [], []
        for U, k in ((F, 3), (split, 4)):
            G = np.floor(similarities(U) * (levels - 1) + 0.5) / (levels - 1)
            seen = spectrum(G, k, np.random.default_rng(seed), sigma=sigma)
            snrs.append(seen.snr)
            ranks.append(seen.rank)
        assert snrs[1] < 1.05 < snrs[0]
        assert max(ranks) <= 3


@pytest.mark.parametrize("sigma", [0.01, 0.05])
def test_rough_similarities_show_no_more_clusters_than_there_are(sigma):
    ranks = [
        spectrum(
            similarities(pool(3, seed, size=24), sigma=sigma), 3, np.random.default_rng(0)
        ).rank
        for seed in range(20)
    ]
    assert max(ranks) == 3
    assert np.median(ranks) == 3


# ---- the embedding ----------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(2, 11))
def test_exact_similarities_are_embedded_with_their_diagonal(k):
    for seed in range(5):
        F = pool(k, seed)
        found = embed(similarities(F), k, np.random.default_rng(seed))
        assert_allclose(found.Z @ found.Z.T, F @ F.T, atol=1e-9)
        assert_allclose(found.Z @ found.w, 1.0, atol=1e-9)
        assert found.w @ found.w == pytest.approx(k, abs=1e-7)
        assert found.residual < 1e-9


def test_the_diagonal_is_not_looked_at():
    F = pool(3, seed=1)
    G = similarities(F)
    other = G + np.diag(np.random.default_rng(0).random(len(G)))
    found, again = (embed(g, 3, np.random.default_rng(0)) for g in (G, other))
    assert_allclose(again.Z @ again.Z.T, found.Z @ found.Z.T, atol=1e-12)


def test_the_residual_grows_with_the_noise():
    F = pool(3, seed=2)
    residuals = [
        embed(similarities(F, sigma=sigma), 3, np.random.default_rng(0)).residual
        for sigma in (0.0, 0.01, 0.1)
    ]
    assert residuals == sorted(residuals)
    assert residuals[2] > 0.01


# ---- the rotation, by triplets and by corners -------------------------------------------------


@pytest.mark.parametrize("k", range(2, 9))
def test_triplets_fix_the_memberships_exactly(k):
    for seed in range(10):
        F, rng = pool(k, seed), np.random.default_rng(seed)
        triplets, answers = triplets_of(F, 2 * k)
        found, score = memberships_from_triplets(embed(similarities(F), k, rng), triplets, answers,
                                                 rng)  # fmt: skip
        assert worst_error(found, F) < 1e-8
        assert score == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
def test_corners_alone_fix_two_clusters_exactly_without_pure_items(alpha):
    for seed in range(50):
        F, rng = pool(2, seed, alpha=alpha), np.random.default_rng(seed)
        found = memberships_from_corners(embed(similarities(F), 2, rng), rng)
        assert worst_error(found.memberships, F) < 1e-8
        assert found.ambiguity == 0.0


@pytest.mark.parametrize("k", [3, 5])
def test_corners_alone_fix_clusters_exactly_where_pure_items_are_seen(k):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        F = np.vstack([pool(k, seed, alpha=0.5), np.eye(k)])
        found = memberships_from_corners(embed(similarities(F), k, rng), rng)
        assert worst_error(found.memberships, F) < 1e-6


@pytest.mark.parametrize("alpha", [0.3, in_soak(1.0)])
@pytest.mark.parametrize("k", [3, in_soak(4), in_soak(5), in_soak(8)])
def test_the_ambiguity_covers_the_error_of_corners_in_95_percent(k, alpha):
    covered = []
    for seed in range(40 if k < 8 else 20):
        F, rng = pool(k, seed, alpha=alpha), np.random.default_rng(seed)
        found = memberships_from_corners(embed(similarities(F), k, rng), rng)
        covered.append(worst_error(found.memberships, F) <= found.ambiguity + 1e-9)
        assert found.most_negative > -1e-7  # a rotation without negative memberships exists
        assert found.spread <= found.ambiguity
    assert np.mean(covered) >= 0.95


def test_diffuse_corners_are_more_ambiguous_than_pure_ones():
    def ambiguity(alpha):
        F, rng = pool(3, seed=1, alpha=alpha), np.random.default_rng(0)
        return memberships_from_corners(embed(similarities(F), 3, rng), rng).ambiguity

    assert ambiguity(0.1) < 0.1 * ambiguity(1.0) < 0.1 * ambiguity(5.0)


def test_memberships_by_corners_lie_on_the_simplex_from_rough_answers_too():
    F, rng = pool(3, seed=0), np.random.default_rng(0)
    embedding = embed(similarities(F, sigma=0.2), 3, rng)
    found = memberships_from_corners(embedding, rng).memberships
    assert found.min() >= 0.0
    assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


# ---- refining ---------------------------------------------------------------------------------


def test_refining_leaves_exact_memberships_where_they_are():
    F = pool(3, seed=0)
    found = refine(F, similarities(F), *triplets_of(F, 6))
    assert_allclose(found, F, atol=1e-10)
    assert residual(found, similarities(F)) < 1e-10


def test_refining_does_not_touch_what_it_is_given():
    F, G = pool(3, seed=0), similarities(pool(3, seed=1))
    before = F.copy()
    refine(F, G, *triplets_of(F, 6))
    assert (before == F).all()


def test_refining_brings_rough_memberships_nearer():
    before, after = [], []
    for seed in range(10):
        F, rng = pool(3, seed), np.random.default_rng(seed)
        G = similarities(F, sigma=0.03, seed=seed)
        triplets, answers = triplets_of(F, 9)
        answers = answers + 0.03 * rng.normal(size=len(answers))
        noisy, _ = memberships_from_triplets(embed(G, 3, rng), triplets, answers, rng)
        fine = refine(noisy, G, triplets, answers)
        columns = match_clusters(F, noisy)
        before.append(np.square(noisy[:, columns] - F).mean())
        after.append(np.square(fine[:, columns] - F).mean())
        assert_allclose(fine.sum(axis=1), 1.0, atol=1e-12)
        assert fine.min() >= 0.0
        assert 0.01 < residual(fine, G) < 0.04  # about the noise: some of it is fitted
    assert np.mean(after) < np.mean(before)


def test_refining_survives_comparisons_that_nobody_could_make():
    F, rng = pool(3, seed=0), np.random.default_rng(0)
    G = similarities(F)
    silent = np.triu(rng.random(G.shape) < 0.2, 1)
    G[silent | silent.T] = np.nan
    triplets, answers = triplets_of(F, 6)
    answers[::5] = np.nan
    start = 0.95 * F + 0.05 / 3
    found = refine(start, G, triplets, answers, n_sweeps=2000)
    assert np.abs(found - F).max() < 0.2 * np.abs(start - F).max()
    assert residual(found, G) < 1e-3
