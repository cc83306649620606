"""An oracle of several annotators; each question goes to one of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_seed
from askmeans.driver import Oracle
from askmeans.exceptions import AnswerError, ParameterError, StopAsking
from askmeans.oracles.noisy import uniform_of
from askmeans.queries import Queries

# Added to the seed, so that the choice of annotators is independent of a NoisyOracle's noise.
_SEED_OFFSET = 7919


class CrowdOracle:
    """Several oracles; each question goes to one of them.

    The seed and the question determine which one. A repeat of a question may go to another
    annotator.

    Parameters
    ----------
    annotators : sequence of oracles
        The annotators.
    shares : sequence of float or None, default=None
        The share of the questions that each gets; None for equal shares.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import MembershipQueries
    >>> expert = TableOracle([[1.0, 0.0], [0.0, 1.0]])
    >>> crowd = CrowdOracle([expert, expert], shares=[0.9, 0.1])
    >>> crowd.answer(MembershipQueries([0, 1], [0, 0]))
    array([1., 0.])
    """

    def __init__(
        self,
        annotators: Sequence[Oracle],
        *,
        shares: Sequence[float] | None = None,
        random_state: int = 0,
    ) -> None:
        if not len(annotators):
            raise ParameterError(
                "The 'annotators' parameter of CrowdOracle must have at least one oracle. Got an "
                "empty list."
            )
        parts = np.ones(len(annotators)) if shares is None else np.asarray(shares, np.float64)
        if parts.shape != (len(annotators),) or not _are_shares(parts):
            raise ParameterError(
                f"The 'shares' parameter of CrowdOracle must have {len(annotators)} numbers from 0 "
                f"up, finite and not all 0. Got {shares!r} instead; pass one for each annotator, "
                "or None."
            )
        check_seed(random_state, "random_state", "CrowdOracle")
        self.annotators = list(annotators)
        self.shares = parts / parts.sum()
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"CrowdOracle({len(self.annotators)} annotators)"

    @property
    def noisy(self) -> bool:
        """Whether answers may lie outside [0, 1]."""
        return any(getattr(annotator, "noisy", False) for annotator in self.annotators)

    def who(self, queries: Queries) -> list[str]:
        """The annotator of each question: "annotator 0" for the first, and so on."""
        return [f"annotator {number}" for number in self._numbers(queries)]

    def _numbers(self, queries: Queries) -> NDArray[np.intp]:
        """The annotator of each question, as an index of `annotators`."""
        u = uniform_of(queries, self.random_state + _SEED_OFFSET)
        numbers = np.searchsorted(np.cumsum(self.shares), u, side="right")
        return np.minimum(numbers, len(self.shares) - 1)

    def answer(self, queries: Queries) -> Floats:
        """Answers to a batch; if an annotator fails, StopAsking has the answers so far."""
        numbers = self._numbers(queries)
        answers, reached = np.full(queries.shape, np.nan), np.zeros(len(queries), dtype=bool)
        for number, annotator in enumerate(self.annotators):
            rows = numbers == number
            if not rows.any():
                continue
            part = queries.take(rows)
            try:
                answers[rows] = self._checked(annotator.answer(part), part, number)
            except StopAsking as stop:
                answers[rows] = self._checked(stop.answers, part, number)
                reached[rows] = stop.reached
                raise StopAsking(answers, reached) from stop.__cause__
            except KeyboardInterrupt:
                raise StopAsking(answers, reached) from None
            except Exception as error:  # keeps the answers of the other annotators
                raise StopAsking(answers, reached) from error
            reached |= rows
        return answers

    def _checked(self, answers: object, queries: Queries, number: int) -> Floats:
        """An annotator's answers, checked: one for each question."""
        values = np.asarray(answers, np.float64)
        if values.shape != queries.shape:
            oracle = type(self.annotators[number]).__name__
            raise AnswerError(
                f"Annotator {number} of CrowdOracle ({oracle}) must "
                f"return one answer for each of {len(queries)} questions, in shape "
                f"{queries.shape}. Got shape {values.shape} instead; return NaN for 'cannot say'."
            )
        return values


def _are_shares(parts: Floats) -> bool:
    """Whether numbers can be shares: finite, from 0 up, not all 0."""
    return bool(np.isfinite(parts).all() and (parts >= 0.0).all() and parts.sum() > 0.0)
