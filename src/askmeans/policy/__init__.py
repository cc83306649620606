"""Policies: what to ask next and the result, as functions of all answers.

Rules of this package:

- A policy learns from a table of answers and proposes questions; it does no input or output.
- The same answers in the same order give the same proposals, whatever happened in between: models
  are learnt from the first m answers, at milestones m, with no memory of other milestones.
- Every annotator gets a question at once: a ranking has every question there is.
"""

from collections.abc import Set
from typing import Protocol

from askmeans.exceptions import AskmeansError, StopAsking
from askmeans.paper.plan import Plan
from askmeans.queries import ME, Answers, Ledger, Question, batches_of
from askmeans.results import Clustering

__all__ = ["Policy"]


class Policy(Protocol):
    """Chooses questions from all answers so far."""

    n_clusters: int

    def learn(self, answers: Answers) -> None:
        """Take note of all answers that stand, in the order given."""

    def propose(
        self, n: int, pending: Set[Question] = frozenset(), annotator: str = ME
    ) -> list[Question]:
        """The n best questions that are neither answered nor pending."""

    def clustering(self) -> Clustering:
        """The best result from all answers."""

    @property
    def settled(self) -> bool:
        """Whether asking on is not worth it."""

    @property
    def stopped(self) -> str | None:
        """Why it is settled: "precision", "max_items" or "items"; None while it is not."""

    @property
    def batch_size(self) -> int:
        """How many questions to ask before the next proposals may change."""


def as_plan(policy: Policy) -> Plan:
    """The policy as a generator, for what translates a plan's questions."""
    ledger = Ledger()
    policy.learn(ledger.history)
    try:
        while not policy.settled and failure_of(policy) is None:
            proposed = policy.propose(policy.batch_size)
            for queries in batches_of(proposed, policy.n_clusters):
                try:
                    ledger.record(queries, (yield queries))
                except StopAsking as stop:
                    ledger.record(queries.take(stop.reached), stop.answers[stop.reached])
                    raise
            policy.learn(ledger.history)
    except StopAsking:
        policy.learn(ledger.history)
    return policy.clustering()


def failure_of(policy: Policy) -> AskmeansError | None:
    """The error that ends a run, of policies that have one: those that ask for similarities."""
    return getattr(policy, "failure", None)
