"""scikit-learn's whole estimator suite: nothing skipped, nothing expected to fail."""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.CollapseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::askmeans.exceptions.NoOracleWarning")
@parametrize_with_checks(
    [FuzzyKMeans(), FuzzyKMeans(fuzzifier="auto", init="fuzzy++"), ActiveFuzzyKMeans()]
)
def test_scikit_learn_check(estimator, check):
    try:
        check(estimator)
    except (SkipTest, pytest.skip.Exception) as skip:
        pytest.fail(f"skipped, which proves nothing: {skip}")
