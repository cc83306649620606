"""Several annotators, one of whom answers each question."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_seed
from askmeans.driver import Oracle
from askmeans.exceptions import AnswerError, ParameterError, StopAsking
from askmeans.oracles.noisy import uniform_of
from askmeans.queries import Queries


class CrowdOracle:
    """Several oracles, one of whom answers each question.

    Which one depends on the seed and the question alone; a repeat of a question may go to another
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
                "The 'annotators' parameter of CrowdOracle must name an annotator. Got none; "
                "pass a list of oracles."
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
        """Whether answers may leave [0, 1]."""
        return any(getattr(annotator, "noisy", False) for annotator in self.annotators)

    def who(self, queries: Queries) -> list[str]:
        """The annotator of each question: "annotator 0" for the first, and so on."""
        return [f"annotator {place}" for place in self._places(queries)]

    def _places(self, queries: Queries) -> NDArray[np.intp]:
        """The annotator of each question, as places in `annotators`."""
        u = uniform_of(queries, self.random_state + 7919)
        places = np.searchsorted(np.cumsum(self.shares), u, side="right")
        return np.minimum(places, len(self.shares) - 1)

    def answer(self, queries: Queries) -> Floats:
        """Answers to a batch, each by its annotator; an annotator that fails stops the asking."""
        who = self._places(queries)
        answers, reached = np.full(queries.shape, np.nan), np.zeros(len(queries), dtype=bool)
        for place, annotator in enumerate(self.annotators):
            mine = who == place
            if not mine.any():
                continue
            theirs = queries.take(mine)
            try:
                answers[mine] = self._checked(annotator.answer(theirs), theirs, place)
            except StopAsking as stop:
                answers[mine] = self._checked(stop.answers, theirs, place)
                reached[mine] = stop.reached
                raise StopAsking(answers, reached) from stop.__cause__
            except KeyboardInterrupt:
                raise StopAsking(answers, reached) from None
            except Exception as error:  # keeps the others' answers
                raise StopAsking(answers, reached) from error
            reached |= mine
        return answers

    def _checked(self, answers: object, queries: Queries, place: int) -> Floats:
        """An annotator's answers, one for each question."""
        values = np.asarray(answers, np.float64)
        if values.shape != queries.shape:
            raise AnswerError(
                f"Annotator {place} of CrowdOracle ({type(self.annotators[place]).__name__}) must "
                f"return one answer for each of {len(queries)} questions, in shape "
                f"{queries.shape}. Got shape {values.shape} instead; return NaN for 'cannot say'."
            )
        return values


def _are_shares(parts: Floats) -> bool:
    """Whether numbers can be shares: finite, from 0 up, not all 0."""
    return bool(np.isfinite(parts).all() and (parts >= 0.0).all() and parts.sum() > 0.0)
