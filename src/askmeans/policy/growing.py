"""A number of clusters that grows with the answers.

Rules of this file:
- If enough items belong to none of the clusters, one is added. The number follows from the answers
  alone: from the groups in their rows, and from the suggestion of the policy.
- Shares of later groups are unknown in a row, unless it sums to one.
- Items that were in none of fewer groups are asked about again, as a repeat of the question; the
  new answer replaces the old.
"""

import math
from collections.abc import Callable, Iterable, Set
from dataclasses import replace

from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import ME, Answer, Answers, GroupQueries, Question
from askmeans.queries.values import Row
from askmeans.results import Clustering

WHOLE = 1.0 - 1e-6  # shares that sum to one
_UNASSIGNED = 0.5  # a row with a smaller sum is in no group, as in `askmeans.policy.evidence`


class GrowingPolicy:
    """Uses the policy for the number of clusters that the answers suggest.

    Parameters
    ----------
    make_policy : callable
        Makes the policy for a number of clusters; it asks for groups.
    n_clusters : int
        The number of clusters to begin with.
    most : int
        The largest number of clusters.
    """

    def __init__(
        self, make_policy: Callable[[int], StratifiedPolicy], n_clusters: int, most: int
    ) -> None:
        self._make_policy = make_policy
        self._least, self._most = n_clusters, most
        self._policy = make_policy(n_clusters)
        self.n_clusters = n_clusters  # at present
        self._answered: set[Question] = set()
        self._again: list[Question] = []

    def learn(self, answers: Answers) -> None:
        """Take note of all valid answers; add a cluster if they suggest more."""
        self._answered = {q for batch in answers.batches for q in batch.queries.questions()}
        widths = [b.queries.n_clusters for b in answers.batches
                  if isinstance(b.queries, GroupQueries)]  # fmt: skip
        self._teach(max([self._least, *widths]), answers)
        if self._policy.suggested_clusters > self.n_clusters < self._most:
            self._teach(self.n_clusters + 1, answers)

    def propose(
        self, n: int, pending: Set[Question] = frozenset(), annotator: str = ME
    ) -> list[Question]:
        """Questions to ask again, then the best ones of the policy."""
        first = [q for q in self._again if q not in pending and q not in self._answered][:n]
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
        """Why it is settled; None while there are questions to ask again."""
        return None if self._open else self._policy.stopped

    @property
    def batch_size(self) -> int:
        """How many questions to ask before the next proposals may change."""
        return len(self._open) or self._policy.batch_size

    @property
    def _open(self) -> list[Question]:
        """Questions to ask again without an answer."""
        return [question for question in self._again if question not in self._answered]

    def _teach(self, n_clusters: int, answers: Answers) -> None:
        """Let the policy for this number of clusters learn."""
        if n_clusters != self.n_clusters:
            self._policy = self._make_policy(n_clusters)
            self.n_clusters = n_clusters
        widened = without_replaced(
            replace(answer, value=filled(answer.value, n_clusters))
            if isinstance(answer.value, tuple)
            else answer
            for answer in answers
        )
        self._again = to_ask_again(widened)
        self._policy.learn(Answers.of(renumbered(widened), n_clusters))


def filled(row: Row, n_clusters: int) -> Row:
    """A row with a place for every group: 0 or NaN for later ones."""
    rest = 0.0 if math.fsum(row) >= WHOLE else math.nan
    return row + (rest,) * (n_clusters - len(row))


def without_replaced(answers: Iterable[Answer]) -> list[Answer]:
    """Answers without those that left an item in no group and were replaced since."""
    listed = list(answers)
    last: dict[tuple[int, ...], int] = {}
    for answer in listed:
        if isinstance(answer.value, tuple) and not all(map(math.isnan, answer.value)):
            last[answer.items] = max(last.get(answer.items, 0), answer.repeat)
    return [
        answer
        for answer in listed
        if not (_is_open(answer) and last.get(answer.items, 0) > answer.repeat)
    ]


def to_ask_again(answers: Iterable[Answer]) -> list[Question]:
    """Questions about items that were in none of the earlier groups."""
    last: dict[tuple[int, ...], Answer] = {}
    for answer in answers:
        if answer.kind == "group":
            known = last.get(answer.items)
            if known is None or answer.repeat >= known.repeat:
                last[answer.items] = answer
    return [
        Question("group", items, None, answer.repeat + 1)
        for items, answer in last.items()
        if _is_open(answer)
    ]


def renumbered(answers: Iterable[Answer]) -> list[Answer]:
    """Answers with repeats numbered again after replaced answers were left out."""
    listed = list(answers)
    kept: dict[tuple[int, ...], set[int]] = {}
    for answer in listed:
        if answer.kind == "group":
            kept.setdefault(answer.items, set()).add(answer.repeat)
    places = {items: sorted(repeats) for items, repeats in kept.items()}
    return [
        replace(answer, repeat=places[answer.items].index(answer.repeat))
        if answer.kind == "group" and answer.repeat
        else answer
        for answer in listed
    ]


def _is_open(answer: Answer) -> bool:
    """Whether a row leaves an item in none of the groups, with an unknown share of another."""
    if not isinstance(answer.value, tuple):
        return False
    n_silent = sum(map(math.isnan, answer.value))
    total = math.fsum(share for share in answer.value if not math.isnan(share))
    return 0 < n_silent < len(answer.value) and total < _UNASSIGNED
