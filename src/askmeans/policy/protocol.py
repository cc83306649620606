"""What a policy offers to whoever drives it."""

from collections.abc import Set
from typing import Protocol

from askmeans.queries import ME, Answers, Question
from askmeans.results import Clustering

__all__ = ["Policy"]


class Policy(Protocol):
    """Chooses questions from everything that was said so far."""

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
