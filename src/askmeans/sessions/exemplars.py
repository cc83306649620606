"""Which items the answers place in each cluster, kept up answer by answer.

A question on the page needs them each time; walking through all answers for it would make every
answer cost more than the one before.
"""

from bisect import bisect_left, insort
from heapq import merge

from askmeans.sessions.log import State
from askmeans.sessions.runtime import Runtime

__all__ = ["Exemplars"]

_PLACED = 0.5  # of a membership, from which an item tells what a cluster is


class Exemplars:
    """Items by cluster, the strongest first."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._state: State | None = None
        self._seen = 0
        self._entries: dict[int, tuple[int, tuple[float, int, int]]] = {}  # by question
        self._sorted: dict[int, list[tuple[float, int, int]]] = {}  # by cluster
        self._gold: tuple[int, set[int]] = (0, set())  # how many gold questions, and their items

    def rows(self, cluster: int, n: int) -> list[int]:
        """At most n different items that answers place in a cluster."""
        self._catch_up()
        found: dict[int, None] = {}
        groups = self._runtime.groups
        numbers = [cluster] if groups.is_plain else groups.members(cluster)
        hidden = self.hidden
        for _, row, _ in merge(*(self._sorted.get(number, ()) for number in numbers)):
            if row not in hidden:
                found[row] = None
            if len(found) == n:
                break
        return list(found)

    @property
    def hidden(self) -> set[int]:
        """Items of gold questions: shown as examples, they would tell what people are tested by."""
        gold = self._runtime.state.gold
        if self._gold[0] != len(gold):
            items = {row for number in gold for row in self._runtime.question(number).items}
            self._gold = (len(gold), items)
        return self._gold[1]

    def is_elsewhere(self, row: int, cluster: int) -> bool:
        """Whether answers place an item in another cluster, or not in this one."""
        groups = self._runtime.groups
        for number in self._runtime.about((row,)):
            asked = self._runtime.question(number).cluster
            value = self._runtime.state.value(number)  # NaN where nobody said
            if isinstance(value, tuple):
                share = groups.row_now(value)[groups.living.index(cluster)]
                away = share < _PLACED
            else:
                away = value < _PLACED if asked == cluster else value >= _PLACED
            if away:
                return True
        return False

    def _catch_up(self) -> None:
        """Look at the questions that something happened to since."""
        state = self._runtime.state
        if self._state is not state:  # the log was read anew
            self._state, self._seen = state, 0
            self._entries, self._sorted = {}, {}
        touched = dict.fromkeys(state.touched[self._seen :])
        self._seen = len(state.touched)
        for number in touched:
            self._place(number, state)

    def _place(self, number: int, state: State) -> None:
        """Put a question's item where its answer places it now."""
        old = self._entries.pop(number, None)
        if old is not None:
            cluster, entry = old
            del self._sorted[cluster][bisect_left(self._sorted[cluster], entry)]
        question, value = self._runtime.question(number), state.value(number)
        group = question.cluster
        if isinstance(value, tuple):
            group = max(range(len(value)), key=value.__getitem__)
            value = value[group]
        if group is not None and value >= _PLACED:
            entry = (-value, question.items[0], number)
            insort(self._sorted.setdefault(group, []), entry)
            self._entries[number] = (group, entry)
