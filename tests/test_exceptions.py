"""The error tree: what a caller may catch."""

import pytest

from askmeans import exceptions


@pytest.mark.parametrize("name", [n for n in exceptions.__all__ if n.endswith("Error")])
def test_every_error_is_an_askmeans_error(name):
    assert issubclass(getattr(exceptions, name), exceptions.AskmeansError)


def test_parameter_and_data_errors_are_value_errors():
    assert issubclass(exceptions.ParameterError, ValueError)
    assert issubclass(exceptions.DataError, ValueError)
    assert issubclass(exceptions.DataTypeError, TypeError)
