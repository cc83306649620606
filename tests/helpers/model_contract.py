"""What every implementation of the fuzzy model must do, plain or compiled."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

__all__ = ["ModelContract"]

Floats = NDArray[np.floating]

FUZZIFIERS = (1.001, 1.1, 1.5, 1.7, 2.0, 3.0, 50.0)


class ModelContract:
    """Closed-form memberships and one Lloyd step; a subclass says whose.

    Subclass it in a test module under a name that starts with ``Test`` and write `memberships` and
    `step`. The tests compare with the formulas spelled out in exact loops, and with what must hold
    whatever the data: rows in [0, 1] that sum to one, no effect of an offset or a scale.

    Examples
    --------
    >>> from askmeans.fuzzy import closed_form_memberships
    >>> class TestMine(ModelContract):
    ...     def memberships(self, X, centers, fuzzifier):
    ...         return closed_form_memberships(X, centers, fuzzifier)
    """

    def memberships(self, X: Floats, centers: Floats, fuzzifier: float) -> Floats:
        """Closed-form memberships (n x k), equation (3): the implementation under test."""
        raise NotImplementedError("a subclass says which implementation it tests")

    def step(
        self, X: Floats, centers: Floats, fuzzifier: float, weights: Floats | None
    ) -> tuple[Floats, float]:
        """New centres for the closed-form memberships (4), and the objective before (2)."""
        raise NotImplementedError("a subclass says which implementation it tests")

    @pytest.mark.parametrize("fuzzifier", FUZZIFIERS)
    @pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (7, 3, 2), (301, 5, 4), (40, 33, 9)])
    def test_memberships_are_the_formula(self, n: int, d: int, k: int, fuzzifier: float) -> None:
        rng = np.random.default_rng(n)
        X, centers = rng.normal(size=(n, d)), rng.normal(size=(k, d))
        expected = np.empty((n, k))
        for i, j in itertools.product(range(n), range(k)):
            mine = np.linalg.norm(X[i] - centers[j])
            with np.errstate(over="ignore"):  # a far centre's term is infinite: membership 0
                terms = [
                    (mine / np.linalg.norm(X[i] - c)) ** (2 / (fuzzifier - 1)) for c in centers
                ]
            expected[i, j] = 1 / sum(terms)
        # The exponent 2 / (alpha - 1) magnifies rounding in the distances.
        rtol = 1e-14 * (10 + 2 / (fuzzifier - 1))
        assert_allclose(self.memberships(X, centers, fuzzifier), expected, rtol=rtol, atol=1e-300)

    @pytest.mark.parametrize("fuzzifier", FUZZIFIERS)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_step_is_the_formulas(self, fuzzifier: float, weighted: bool) -> None:
        rng = np.random.default_rng(1)
        X, centers = rng.normal(size=(500, 6)), rng.normal(size=(3, 6))
        counts = rng.integers(0, 4, size=500).astype(float) if weighted else np.ones(500)
        U = self.memberships(X, centers, fuzzifier) ** fuzzifier * counts[:, None]
        distances = ((X[:, None] - centers) ** 2).sum(axis=2)
        moved, objective = self.step(X, centers, fuzzifier, counts if weighted else None)
        assert_allclose(moved, U.T @ X / U.sum(axis=0)[:, None], rtol=1e-9, atol=1e-12)
        assert_allclose(objective, (U * distances).sum(), rtol=1e-9)

    @pytest.mark.parametrize("fuzzifier", FUZZIFIERS)
    def test_an_item_on_centers_is_shared_among_them(self, fuzzifier: float) -> None:
        centers = np.array([[0.0, 0.0], [3.0, 1.0], [0.0, 0.0]])
        U = self.memberships(np.array([[0.0, 0.0], [3.0, 1.0]]), centers, fuzzifier)
        assert_allclose(U, [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]], atol=0)

    @pytest.mark.parametrize("fuzzifier", FUZZIFIERS)
    def test_duplicates_leave_rows_that_sum_to_one(self, fuzzifier: float) -> None:
        rng = np.random.default_rng(2)
        X = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
        centers = np.vstack([X[:3], X[:1], X[:1] + 1e-300])
        U = self.memberships(X, centers, fuzzifier)
        assert np.isfinite(U).all()
        assert (U >= 0).all()
        assert_allclose(U.sum(axis=1), 1, rtol=1e-14)

    @pytest.mark.parametrize("fuzzifier", [1.1, 1.7, 2.0, 3.0])
    @pytest.mark.parametrize(
        ("offset", "scale", "tolerance"), [(1e8, 1, 1e-6), (0, 1e-7, 1e-12), (0, 1e7, 1e-12)]
    )
    def test_offset_and_scale_change_nothing(
        self, fuzzifier: float, offset: float, scale: float, tolerance: float
    ) -> None:
        rng = np.random.default_rng(3)
        X, centers = rng.normal(size=(200, 4)), rng.normal(size=(3, 4))
        moved, _ = self.step(X, centers, fuzzifier, None)
        there, _ = self.step(X * scale + offset, centers * scale + offset, fuzzifier, None)
        assert_allclose(
            self.memberships(X * scale + offset, centers * scale + offset, fuzzifier),
            self.memberships(X, centers, fuzzifier),
            atol=tolerance,
        )
        assert_allclose((there - offset) / scale, moved, atol=tolerance)
