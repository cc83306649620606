"""Several people who answer in turn, and people who answer wrongly on purpose."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_choice, check_seed
from askmeans.driver import Oracle
from askmeans.exceptions import AnswerError, ParameterError, StopAsking
from askmeans.oracles.noisy import WrappingOracle, uniform_of, uniform_of_entries
from askmeans.queries import Answer, Queries, RelativeQueries, batches_of
from askmeans.queries.values import to_scale

__all__ = ["CrowdOracle", "HostileOracle"]

Floats = NDArray[np.float64]


class CrowdOracle:
    """Several oracles, one of whom answers each question.

    Who it is depends on the seed and the question alone; another repeat of a question may go to
    somebody else.

    Parameters
    ----------
    annotators : sequence of oracles
        Who answers.
    shares : sequence of float or None, default=None
        What part of the questions each gets; None for equal parts.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import MembershipQueries
    >>> honest = TableOracle([[1.0, 0.0], [0.0, 1.0]])
    >>> crowd = CrowdOracle([honest, HostileOracle(honest, how="flipped")], shares=[0.9, 0.1])
    >>> crowd.answer(MembershipQueries([0, 1], [0, 0])).shape
    (2,)
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
        """Who answers each question: "annotator 0" for the first of `annotators`, and so on."""
        return [f"annotator {place}" for place in self._places(queries)]

    def _places(self, queries: Queries) -> NDArray[np.intp]:
        """Who answers each question, as places in `annotators`."""
        u = uniform_of(queries, self.random_state + 7919)
        places = np.searchsorted(np.cumsum(self.shares), u, side="right")
        return np.minimum(places, len(self.shares) - 1)

    def who_answered(self, history: Sequence[Answer]) -> NDArray[np.intp]:
        """Who gave each answer of a history.

        Parameters
        ----------
        history : Answers
            Of a result whose questions this crowd answered.

        Returns
        -------
        ndarray of int of shape (n_answers,)
            Places in `annotators`.

        Examples
        --------
        >>> from askmeans.oracles import TableOracle
        >>> CrowdOracle([TableOracle.from_labels([0, 1])]).who_answered([])
        array([], dtype=int64)
        """
        batches = batches_of((answer.question for answer in history), 1)
        return np.concatenate([np.empty(0, dtype=np.intp), *map(self._places, batches)])

    def answer(self, queries: Queries) -> Floats:
        """Answers to a batch, each by whoever it goes to; one who fails stops the asking."""
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
            except Exception as error:  # the others' answers are not thrown away with it
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


class HostileOracle(WrappingOracle):
    """Answers wrongly on purpose.

    Parameters
    ----------
    oracle : object
        Who knows the truth.
    how : {"random", "flipped"}, default="random"
        Any number from 0 to 1, or one minus the truth; rows are divided by their sums.
    random_state : int, default=0
        The seed of random answers.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import MembershipQueries
    >>> liar = HostileOracle(TableOracle([[0.75, 0.25]]), how="flipped")
    >>> liar.answer(MembershipQueries([0], [0]))
    array([0.25])
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        how: Literal["random", "flipped"] = "random",
        random_state: int = 0,
    ) -> None:
        check_choice(how, ("random", "flipped"), "how", "HostileOracle")
        check_seed(random_state, "random_state", "HostileOracle")
        self.oracle = oracle
        self.how = how
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"HostileOracle({self.oracle!r}, how={self.how!r})"

    def _changed(self, queries: Queries, answers: Floats) -> Floats:
        if self.how == "flipped":
            changed: Floats = np.clip(1.0 - np.asarray(answers, np.float64), 0.0, 1.0)
        else:
            changed = uniform_of_entries(queries, self.random_state + 104729)
        if isinstance(queries, RelativeQueries):  # one, the other or both: nothing in between
            return to_scale(changed, 3)
        if changed.ndim == 1:
            return changed
        rows: Floats = changed / np.maximum(changed.sum(axis=1, keepdims=True), 1e-300)
        return rows


def _are_shares(parts: Floats) -> bool:
    """Whether numbers can be shares: finite, from 0 up, not all 0."""
    return bool(np.isfinite(parts).all() and (parts >= 0.0).all() and parts.sum() > 0.0)
