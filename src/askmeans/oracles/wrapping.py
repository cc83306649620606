"""What oracles have in common that change another oracle's answers."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from askmeans.driver import Oracle, annotators_of
from askmeans.exceptions import StopAsking
from askmeans.queries import Queries

__all__ = ["WrappingOracle"]

Floats = NDArray[np.float64]


class WrappingOracle(ABC):
    """Changes the other oracle's answers, and names whomever it names."""

    oracle: Oracle

    def answer(self, queries: Queries) -> Floats:
        """The other oracle's answers, changed; those it gave before a stop, too."""
        try:
            return self._changed(queries, self.oracle.answer(queries))
        except StopAsking as stop:
            changed = self._changed(queries, stop.answers)
            said = np.where(np.isnan(stop.answers), np.nan, changed)
            raise StopAsking(said, stop.reached) from stop.__cause__

    def who(self, queries: Queries) -> list[str] | None:
        """Whoever the other oracle names."""
        return annotators_of(self.oracle, queries)

    @abstractmethod
    def _changed(self, queries: Queries, answers: Floats) -> Floats:
        """These answers, as this oracle gives them."""
