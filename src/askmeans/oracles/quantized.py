"""An oracle that answers on a scale of a few points."""

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans.driver import Oracle
from askmeans.oracles.wrapping import WrappingOracle
from askmeans.queries import Queries, RelativeQueries

__all__ = ["QuantizedOracle"]


class QuantizedOracle(WrappingOracle):
    """Rounds another oracle's answers to the points of a scale from 0 to 1, rows entry by entry.

    Which of two an item is more like has a scale of its own, and stays.

    Parameters
    ----------
    oracle : object
        Whose answers are rounded.
    levels : int
        How many points the scale has, at least 2; five are 0, 1/4, 1/2, 3/4 and 1.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import MembershipQueries
    >>> oracle = QuantizedOracle(TableOracle([[0.3, 0.7]]), levels=5)
    >>> oracle.answer(MembershipQueries([0, 0], [0, 1]))
    array([0.25, 0.75])
    """

    def __init__(self, oracle: Oracle, *, levels: int) -> None:
        check_number(levels, "levels", "QuantizedOracle", integer=True, minimum=2)
        self.oracle = oracle
        self.levels = levels

    def __repr__(self) -> str:
        return f"QuantizedOracle({self.oracle!r}, levels={self.levels})"

    def _changed(self, queries: Queries, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        if isinstance(queries, RelativeQueries):
            return answers
        steps = self.levels - 1
        inside = np.clip(np.asarray(answers, np.float64), 0.0, 1.0)
        # Half a step rounds up, always: numpy would round it to even.
        return np.floor(inside * steps + 0.5 + 1e-12) / steps
