"""Every error and warning that askmeans raises by name.

The tree::

    AskmeansError
    |-- ParameterError (ValueError)   a parameter breaks its rule
    `-- DataError (ValueError)        the data, or an array beside it, cannot be used
        `-- DataTypeError (TypeError) it is of a kind that cannot: sparse, objects, complex

    AskmeansWarning (UserWarning)
    `-- CollapseWarning               clusters have merged: the result has fewer than asked

A message names the parameter, the rule, the value received and the remedy.
"""

__all__ = [
    "AskmeansError",
    "AskmeansWarning",
    "CollapseWarning",
    "DataError",
    "DataTypeError",
    "ParameterError",
]


class AskmeansError(Exception):
    """Base of every error that askmeans raises by name."""


class ParameterError(AskmeansError, ValueError):
    """A parameter breaks its rule; nothing was done."""


class DataError(AskmeansError, ValueError):
    """The data, or an array that goes with it, cannot be used; nothing was done."""


class DataTypeError(DataError, TypeError):
    """The data is of a kind that cannot be used: sparse, objects, complex numbers."""


class AskmeansWarning(UserWarning):
    """Base of every warning that askmeans gives by name."""


class CollapseWarning(AskmeansWarning):
    """Two or more clusters have merged, so the result has fewer than were asked for."""
