"""What is computed twice: equal, but for the last bits.

A matrix product may round otherwise where an array begins at another place in memory (OpenBLAS on
Haswell does), so the same computation in the same process may differ there.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np
from numpy.testing import assert_allclose

__all__ = ["same_but_for_rounding"]


def same_but_for_rounding(found, expected):
    """Fail unless both are equal; floats, wherever they stand in them, but for their last bits."""
    if is_dataclass(expected):
        found, expected = (
            {field.name: getattr(one, field.name) for field in fields(one)}
            for one in (found, expected)
        )
    if isinstance(expected, Mapping):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, float | np.ndarray):
        assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same_but_for_rounding(one, other)
    else:
        assert found == expected
