"""An oracle that answers from what was said before, and asks another only for the rest."""

import numpy as np
from numpy.typing import NDArray

from askmeans.driver import Oracle, annotators_of
from askmeans.exceptions import StopAsking
from askmeans.queries import Ledger, Queries

__all__ = ["RememberingOracle"]


class RememberingOracle:
    """Asks another oracle each question once, whoever asks: several fits share the answers.

    Similarities do not depend on the number of clusters, so a fit with another one asks only what
    is new. What a membership question was about does depend on it: start anew for those.

    Parameters
    ----------
    oracle : object
        Who is asked what is not known yet.
    ledger : Ledger or None, default=None
        Answers held already, such as a fit's ``history_.ledger()``; new ones go into it, too.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import PairQueries
    >>> oracle = RememberingOracle(TableOracle([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> oracle.answer(PairQueries([[0, 1]])), oracle.answer(PairQueries([[1, 0], [1, 2]]))
    (array([0.5]), array([0.5, 0.5]))
    >>> oracle.ledger.n_distinct  # of three questions
    2
    """

    def __init__(self, oracle: Oracle, ledger: Ledger | None = None) -> None:
        self.oracle = oracle
        self.ledger = Ledger() if ledger is None else ledger

    def __repr__(self) -> str:
        return f"RememberingOracle({self.oracle!r}, {len(self.ledger.history)} answers)"

    @property
    def noisy(self) -> bool:
        """Whether answers may leave [0, 1]: as the other oracle's."""
        return bool(getattr(self.oracle, "noisy", False))

    def answer(self, queries: Queries) -> NDArray[np.float64]:
        """Answers to a batch, those known from memory.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            The questions.

        Returns
        -------
        ndarray of shape (n_questions,), or (n_questions, n_clusters) for group questions
            The answers.

        Raises
        ------
        StopAsking
            If the other oracle has had enough; what it said is kept.

        Examples
        --------
        >>> from askmeans.oracles import TableOracle
        >>> from askmeans.queries import PairQueries
        >>> RememberingOracle(TableOracle([[0.5, 0.5]] * 2)).answer(PairQueries([[0, 1]]))
        array([0.5])
        """
        new = self.ledger.unanswered(queries)
        if len(new):
            try:
                answers = self.oracle.answer(new)
                if not _usable(answers, new, self.noisy):
                    return answers  # the driver says what is wrong; it is not to be remembered
                self.ledger.record(new, answers, annotators=annotators_of(self.oracle, new))
            except StopAsking as stop:
                said = new.take(stop.asked)
                who = annotators_of(self.oracle, said)
                self.ledger.record(said, stop.answers[stop.asked], annotators=who)
                open_ = set(self.ledger.unanswered(queries).identities())
                reached = np.array([key not in open_ for key in queries.identities()])
                raise StopAsking(self.ledger.answers(queries), reached) from stop.__cause__
        return self.ledger.answers(queries)

    def who(self, queries: Queries) -> list[str]:
        """Who answered each question, as far as it was answered.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            The questions.

        Returns
        -------
        list of str
            A name each; "me" where nobody was named.

        Examples
        --------
        >>> from askmeans.oracles import CrowdOracle, TableOracle
        >>> from askmeans.queries import PairQueries
        >>> oracle = RememberingOracle(CrowdOracle([TableOracle.from_labels([0, 1])]))
        >>> oracle.answer(PairQueries([[0, 1]])), oracle.who(PairQueries([[1, 0]]))
        (array([0.]), ['annotator 0'])
        """
        return self.ledger.annotators(queries)


def _usable(answers: NDArray[np.float64], queries: Queries, noisy: bool) -> bool:
    """Whether these are answers: one for each question, in [0, 1] but for a noisy oracle."""
    values = np.asarray(answers, dtype=np.float64)
    inside = np.isnan(values) | (np.isfinite(values) if noisy else (values >= 0) & (values <= 1))
    return values.shape == queries.shape and bool(inside.all())
