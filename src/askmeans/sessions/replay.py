"""A plan driven over stored answers: the live plan of a process, and what it would ask next.

Rules of this file:
- A batch has its place in a session by all that was sent to the plan before it: the `prefix`, a
  digest of the parameters, the data, and every batch and answer since. So the same answers lead to
  the same place, after an undo, too.
- What the plan asks there is compared with what was stored there. Where it differs (another
  version, another machine), the plan at hand is followed, over the stored answers; `diverged` says
  so. Answers belong to questions, not to batches: what was answered is never asked again.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import AskmeansError, PlanError
from askmeans.floats import default_float_errors
from askmeans.plans.answers import Plan
from askmeans.queries import MembershipQueries, Queries
from askmeans.results import Clustering
from askmeans.sessions.notes import quietly
from askmeans.sessions.state import State
from askmeans.sessions.store.contract import QuestionKey

__all__ = ["WAY_OUT", "QuestionBook", "Replay", "digest_of", "keys_of"]

Floats = NDArray[np.float64]


WAY_OUT = (
    "Every answer is kept. Take some back (`askmeans undo DB`, Session.undo), or export them "
    "(`askmeans export DB`) and hold them in a new session, of fewer clusters for example."
)


def digest_of(queries: Queries) -> str:
    """What tells a batch from another: its kind and its questions in order."""
    digest = hashlib.sha256(f"{queries.kind} {len(queries)}".encode())
    for column in (*queries.item_table.T, queries.repeat):
        digest.update(column.astype("<i8").tobytes())
    if isinstance(queries, MembershipQueries):
        digest.update(queries.clusters.astype("<i8").tobytes())
    return digest.hexdigest()


def keys_of(queries: Queries) -> list[QuestionKey]:
    """What each question of a batch is known by in the store."""
    clusters: Sequence[int] = [-1] * len(queries)
    items = queries.item_table
    if isinstance(queries, MembershipQueries):
        clusters = queries.clusters.tolist()
    else:
        items = np.sort(items, axis=1)  # similarity has no order
    return [
        (queries.kind, tuple(row), cluster, repeat)
        for row, cluster, repeat in zip(
            items.tolist(), clusters, queries.repeat.tolist(), strict=True
        )
    ]


class QuestionBook:
    """Questions by number, and numbers by question."""

    def __init__(self) -> None:
        self._keys: dict[int, QuestionKey] = {}
        self._numbers: dict[QuestionKey, int] = {}
        self._about: dict[tuple[int, ...], list[int]] = {}

    def learn(self, pairs: Sequence[tuple[int, QuestionKey]]) -> None:
        """Take questions in; what is known already stays."""
        for number, key in pairs:
            if number not in self._keys:
                self._about.setdefault(key[1], []).append(number)
            self._keys[number] = key
            self._numbers[key] = number

    def about(self, items: tuple[int, ...]) -> list[int]:
        """Numbers of the questions about just these items."""
        return list(self._about.get(items, ()))

    def key(self, number: int) -> QuestionKey | None:
        """A question, None for a number that is not known."""
        return self._keys.get(number)

    def number(self, key: QuestionKey) -> int | None:
        """A question's number, None for one that is not known."""
        return self._numbers.get(key)


class Replay:
    """A plan, stepped as far as the answers allow."""

    def __init__(self, make_plan: Callable[[], Plan], start: str) -> None:
        self.prefix = start
        self.batch = 0  # the number of the open batch, from 1
        self.queries: Queries | None = None
        self.digest = ""
        self.keys: list[QuestionKey] = []
        self.numbers: list[int] | None = None  # of the batch's questions; None until it is stored
        self.clustering: Clustering | None = None
        self.failure: AskmeansError | None = None
        self.notes: list[str] = []
        self.sent: dict[int, float] = {}  # what the plan was told, by question
        self.place: dict[int, int] = {}  # the batch in which a question was first asked
        self._plan, _ = quietly(make_plan)
        self._step(lambda: next(self._plan))

    @property
    def is_over(self) -> bool:
        """Whether the plan asks nothing any more."""
        return self.queries is None

    def number_with(self, numbers: Sequence[int]) -> None:
        """Take the numbers of the batch's questions, once it is stored."""
        self.numbers = list(numbers)
        for number in self.numbers:
            self.place.setdefault(number, self.batch)

    def open(self, state: State) -> list[int]:
        """Questions of the batch that are not settled, each once, in the plan's order."""
        if self.numbers is None:
            return []
        return [n for n in dict.fromkeys(self.numbers) if not state.is_settled(n)]

    def send(self, state: State) -> None:
        """Give the plan the answers to its batch, all of which are settled, and take the next."""
        assert self.numbers is not None
        told = {number: state.value(number) for number in dict.fromkeys(self.numbers)}
        values = np.array([told[number] for number in self.numbers], dtype=np.float64)
        self.sent.update(told)
        digest = hashlib.sha256(f"{self.prefix} {self.digest}".encode())
        digest.update(np.where(np.isnan(values), -1.0, values).astype("<f8").tobytes())
        self.prefix = digest.hexdigest()
        self._step(lambda: self._plan.send(values))

    def holds(self, state: State, changed: Iterable[int | None]) -> bool:
        """Whether what the plan was told of these questions is still so."""
        return all(
            state.is_settled(number) and _same(state.value(number), self.sent[number])
            for number in changed
            if number in self.sent and number is not None
        )

    def later_than(self, question: int) -> list[int]:
        """Questions first asked in batches after the one of this question."""
        own = self.place.get(question)
        if own is None or question not in self.sent:
            return []
        return [number for number, batch in self.place.items() if batch > own]

    def close(self) -> None:
        """Let the plan go."""
        self._plan.close()

    def _step(self, work: Callable[[], Queries]) -> None:
        """Let the plan run to its next batch or its end."""
        self.queries, self.numbers, self.keys = None, None, []
        try:
            with default_float_errors():
                queries, notes = quietly(work)
        except StopIteration as end:
            self.clustering = end.value
            return
        except AskmeansError as error:  # the answers do not allow to go on
            self.failure = error
            error.args = (f"{error} {WAY_OUT}", *error.args[1:])
            return
        except Exception as error:
            self.failure = PlanError(
                f"The plan failed in round {self.batch + 1} ({type(error).__name__}: {error}); "
                f"a version without the fault may go on. {WAY_OUT}"
            )
            self.failure.__cause__ = error
            return
        self.notes = list(dict.fromkeys([*self.notes, *notes]))
        self.batch += 1
        self.queries = queries
        self.digest, self.keys = digest_of(queries), keys_of(queries)


def _same(a: float, b: float) -> bool:
    """Equal, or both "cannot say"."""
    return a == b or (a != a and b != b)
