"""Parameters that only `make soak` tries."""

import pytest

__all__ = ["in_soak"]


def in_soak(*values):
    """A case of `parametrize` that is left out of `make test`."""
    return pytest.param(*values, marks=pytest.mark.soak)
