"""A number of clusters that follows from the answers: it starts small and grows by evidence.

Whenever enough items belong to none of the clusters there is one more, and these items are asked
about again. How many there are follows from the answers alone: from how many groups their rows
have, and from what the policy for so many suggests.
"""

from collections.abc import Callable, Set
from dataclasses import replace

from askmeans.policy.regrouped import filled, renumbered, to_ask_again, without_replaced
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import ME, Answers, GroupQueries, Question
from askmeans.results import Clustering

__all__ = ["GrowingPolicy"]


class GrowingPolicy:
    """Proposes what the policy for so many clusters does, as many as the answers speak of.

    Parameters
    ----------
    make_policy : callable
        Makes the policy for a number of clusters; it asks for groups.
    n_clusters : int
        How many clusters there are to begin with.
    most : int
        How many there may be.
    """

    def __init__(
        self, make_policy: Callable[[int], StratifiedPolicy], n_clusters: int, most: int
    ) -> None:
        self._make_policy = make_policy
        self._least, self._most = n_clusters, most
        self._policy = make_policy(n_clusters)
        self.n_clusters = n_clusters  # there are now
        self._asked: set[Question] = set()
        self._again: list[Question] = []

    def learn(self, answers: Answers) -> None:
        """Take note of all answers that stand, and grow by one cluster where they speak of more."""
        self._asked = {q for batch in answers.batches for q in batch.queries.questions()}
        widths = [b.queries.n_clusters for b in answers.batches
                  if isinstance(b.queries, GroupQueries)]  # fmt: skip
        self._teach(max([self._least, *widths]), answers)
        if self._policy.suggested_clusters > self.n_clusters < self._most:
            self._teach(self.n_clusters + 1, answers)

    def propose(
        self, n: int, pending: Set[Question] = frozenset(), annotator: str = ME
    ) -> list[Question]:
        """What is to be asked again, then the n best questions of the policy."""
        first = [q for q in self._again if q not in pending and q not in self._asked][:n]
        more = self._policy.propose(n - len(first), pending, annotator) if len(first) < n else []
        return [*first, *more]

    def clustering(self) -> Clustering:
        """The best result from all answers."""
        return self._policy.clustering()

    @property
    def settled(self) -> bool:
        """Whether asking on is not worth it."""
        return self.stopped is not None

    @property
    def stopped(self) -> str | None:
        """Why it is settled; None while something is to be asked again."""
        return None if self._open else self._policy.stopped

    @property
    def batch_size(self) -> int:
        """How many questions to ask before the next proposals may change."""
        return len(self._open) or self._policy.batch_size

    @property
    def _open(self) -> list[Question]:
        """What is to be asked again, and was not."""
        return [question for question in self._again if question not in self._asked]

    def _teach(self, n_clusters: int, answers: Answers) -> None:
        """Let the policy for so many clusters learn."""
        if n_clusters != self.n_clusters:
            self._policy = self._make_policy(n_clusters)
            self.n_clusters = n_clusters
        told = [
            replace(answer, value=filled(answer.value, n_clusters))
            if isinstance(answer.value, tuple)
            else answer
            for answer in answers
        ]
        told = without_replaced(told)
        self._again = to_ask_again(told)
        self._policy.learn(Answers.of(renumbered(told), n_clusters))
