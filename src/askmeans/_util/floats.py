"""What floating-point errors do while askmeans computes: numpy's defaults, whatever the caller set.

Some libraries call `numpy.seterr(all="raise")` when they are imported. A membership that underflows
to 0 is a result here, no error, so everything public that computes does so under numpy's defaults.
Oracles and other code of the caller run under the caller's own settings.
"""

import numpy as np

__all__ = ["default_float_errors"]


def default_float_errors() -> np.errstate:
    """Return a context, or a decorator, in which underflow is 0 and other errors are warnings."""
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
