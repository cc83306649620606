"""The error tree: what a caller may catch."""

import pickle

import pytest

from askmeans import exceptions


@pytest.mark.parametrize("name", [n for n in exceptions.__all__ if n.endswith("Error")])
def test_every_error_is_an_askmeans_error(name):
    assert issubclass(getattr(exceptions, name), exceptions.AskmeansError)


def test_parameter_and_data_errors_are_value_errors():
    assert issubclass(exceptions.ParameterError, ValueError)
    assert issubclass(exceptions.DataError, ValueError)
    assert issubclass(exceptions.DataTypeError, TypeError)


def test_a_warning_of_missing_clusters_lists_them_by_number_or_by_name():
    warning = exceptions.MissingClusterWarning("Nothing belongs to {clusters}.", (0, 2))
    assert str(warning) == "Nothing belongs to cluster 0, 2."
    names = ["small", "cluster 0", "large"]
    assert warning.with_names(names) == "Nothing belongs to small, large."
    assert str(pickle.loads(pickle.dumps(warning))) == str(warning)


def test_a_name_in_another_warning_stays():
    warning = exceptions.CollapseWarning("cluster 0 is the file's name")
    assert warning.with_names(["small"]) == "cluster 0 is the file's name"
