"""An oracle that answers from memory, and asks another only for the rest."""

import numpy as np
from numpy.typing import NDArray

from askmeans.driver import Oracle, annotators_of, checked_answers
from askmeans.exceptions import AnswerError, StopAsking
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
        """Answers to a batch, those known from memory."""
        new = self.ledger.unanswered(queries)
        if len(new):
            try:
                answers = self.oracle.answer(new)
                try:
                    checked_answers(answers, new, self)
                except AnswerError:
                    return answers  # the driver says what is wrong; it is not to be remembered
                self.ledger.record(new, answers, annotators=annotators_of(self.oracle, new))
            except StopAsking as stop:
                part = new.take(stop.reached)
                who = annotators_of(self.oracle, part)
                self.ledger.record(part, stop.answers[stop.reached], annotators=who)
                reached = self.ledger.is_answered(queries)
                raise StopAsking(self.ledger.answers(queries), reached) from stop.__cause__
        return self.ledger.answers(queries)

    def who(self, queries: Queries) -> list[str]:
        """Who answered each question; "me" where nobody was named, or nobody answered."""
        return self.ledger.annotators(queries)
