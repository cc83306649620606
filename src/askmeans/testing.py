"""OracleContract: a test class to inherit, with the requirements of every oracle."""

from typing import Any

import numpy as np
import pytest

from askmeans.exceptions import QueryError, StopAsking
from askmeans.queries import (
    GroupQueries,
    MembershipQueries,
    PairQueries,
    Queries,
    RelativeQueries,
    TripletQueries,
)

__all__ = ["OracleContract"]


class OracleContract:
    """Answers come one for each question, in range, and do not depend on the batch.

    An answer is a number; to a group question it is a row with a share for each cluster.

    Subclass it in a test module under a name that starts with ``Test`` and write `make_oracle`, an
    oracle that knows at least `n_items` items and `n_clusters` clusters. `kinds` are the kinds of
    question that it supports ("relative" is one more); `answers_are_repeatable` states whether the
    same question always has the same answer.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> class TestMine(OracleContract):
    ...     def make_oracle(self):
    ...         return TableOracle(np.full((self.n_items, self.n_clusters), 1 / self.n_clusters))
    """

    n_items = 12
    n_clusters = 3
    kinds: tuple[str, ...] = ("membership", "group", "pair", "triplet")
    answers_are_repeatable = True

    def make_oracle(self) -> Any:
        """Return a new oracle to test."""
        raise NotImplementedError("a subclass returns the oracle to test")

    def batches(self) -> list[Queries]:
        """A few questions of every supported kind."""
        every: list[Queries] = [
            MembershipQueries([0, 5, 11, 5], [0, 1, 2, 1]),
            GroupQueries([0, 5, 11, 5], self.n_clusters),
            PairQueries([[0, 1], [3, 11], [1, 0]]),
            TripletQueries([[0, 1, 2], [9, 4, 11]]),
            RelativeQueries([[0, 1, 2], [9, 4, 11], [9, 11, 4]]),
        ]
        return [batch for batch in every if batch.kind in self.kinds]

    def test_one_answer_comes_for_each_question(self) -> None:
        oracle = self.make_oracle()
        for queries in self.batches():
            answers = np.asarray(oracle.answer(queries), dtype=np.float64)
            assert answers.shape == queries.shape

    def test_answers_lie_between_0_and_1_unless_the_oracle_says_it_is_noisy(self) -> None:
        oracle = self.make_oracle()
        for queries in self.batches():
            answers = np.asarray(oracle.answer(queries), dtype=np.float64)
            assert not np.isinf(answers).any()
            if not getattr(oracle, "noisy", False):
                known = answers[~np.isnan(answers)]
                assert ((known >= 0.0) & (known <= 1.0)).all()

    def test_an_answer_does_not_depend_on_its_batch(self) -> None:
        if not self.answers_are_repeatable:
            return
        for queries in self.batches():
            together = self.make_oracle().answer(queries)
            oracle = self.make_oracle()
            for row in range(len(queries)):
                alone = oracle.answer(queries.take(slice(row, row + 1)))
                np.testing.assert_allclose(alone, together[row : row + 1])

    def test_an_item_that_does_not_exist_is_refused(self) -> None:
        oracle = self.make_oracle()
        beyond = 10**9
        for queries in (
            MembershipQueries([beyond], [0]),
            GroupQueries([beyond], self.n_clusters),
            PairQueries([[0, beyond]]),
        ):
            if queries.kind in self.kinds:
                with pytest.raises((QueryError, LookupError, StopAsking)):
                    oracle.answer(queries)

    def test_an_empty_batch_has_no_answers(self) -> None:
        oracle = self.make_oracle()
        for queries in self.batches():
            assert len(oracle.answer(queries.take(slice(0)))) == 0

    def test_whoever_is_named_is_named_for_each_question(self) -> None:
        oracle = self.make_oracle()
        for queries in self.batches():
            oracle.answer(queries)
            named = oracle.who(queries) if hasattr(oracle, "who") else None
            assert named is None or [type(name) for name in named] == [str] * len(queries)
