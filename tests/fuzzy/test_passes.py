"""Rows among threads: how many take part, and that nobody notices."""

import numpy as np
import pytest
import sklearn.cluster  # noqa: F401 - loads the OpenMP that threadpoolctl limits
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from askmeans.fuzzy import lloyd
from askmeans.fuzzy.passes import RowThreads, thread_limit


def test_small_work_stays_on_one_thread():
    with RowThreads(1000, 10) as threads:
        assert threads.rows == [slice(0, 1000)]


@pytest.mark.parametrize("limit", [1, 2])
def test_large_work_takes_as_many_threads_as_scikit_learn_may(limit):
    with threadpool_limits(limit), RowThreads(1_000_001, 10) as threads:
        assert thread_limit() == limit
        assert len(threads.rows) == limit
        covered = np.concatenate([np.arange(1_000_001)[rows] for rows in threads.rows])
        assert (covered == np.arange(1_000_001)).all()


def test_one_thread_and_two_find_the_same():
    X = np.random.default_rng(0).normal(size=(60_000, 8))
    fits = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            fits.append(
                lloyd.fit(
                    X, 4, fuzzifier=1.5, init="fuzzy++", n_init=1, max_iter=5, tol=0.0,
                    weights=np.empty(0), rng=np.random.default_rng(1),
                )
            )  # fmt: skip
    assert_allclose(fits[0].centers, fits[1].centers, atol=1e-10)


def test_an_error_in_one_thread_reaches_the_caller():
    def fails(rows):
        return 1 // (len(rows) * 0)

    with threadpool_limits(2), RowThreads(10_000_000, 10) as threads:
        assert len(threads.rows) == 2
        with pytest.raises(ZeroDivisionError):
            threads.map(fails, (np.empty(10_000_000, dtype=np.int8),))
