"""The protocol: a method asks questions, is told answers, and returns a result.

Rules of this file:
- A method gets a `Task`: features in random order, the number of groups, a budget and a seed. It
  never gets labels; what it learns of them are the answers to its questions.
- Every question is recorded. A method that asks more than its budget, or about items that do not
  exist, ends with an error.
- `replay` runs a method again with nothing but the recorded answers. Another result means that it
  is not a function of these: it has seen labels, or is not reproducible.
"""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Items = tuple[int, ...]
Answer = Any  # pairs: bool; items: the number of the group; soft: a row of shares
Record = list[tuple[Items, Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a method may know before the first answer."""

    X: Floats
    n_clusters: int
    budget: int
    seed: int
    kind: str  # "pair": are two items of one group? "item": of which group? "row": which shares?
    examples: tuple[Floats, NDArray[np.intp]] | None = None  # encoded names of the groups


class Method(Protocol):
    """A way of asking; made anew with a task for every run."""

    def ask(self) -> Items | None:
        """Return the items of the next question: two of a pair, else one; None to stop early."""

    def tell(self, items: Items, answer: Answer) -> None:
        """Take the answer."""

    def result(self) -> NDArray[Any]:
        """Return labels (n_items,) or memberships (n_items, n_clusters)."""


class ByQuery:
    """Base of methods that call a function for each answer, as most libraries do.

    `solve` calls ``self.query(*items)``; it runs in a thread, which waits for each answer.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._questions: queue.Queue[Items | None] = queue.Queue()
        self._answers: queue.Queue[Answer] = queue.Queue()
        self._outcome: NDArray[Any] | Exception | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def solve(self, task: Task) -> NDArray[Any]:
        """Return the result; ask by `query`, at most as often as the budget says."""
        raise NotImplementedError

    def query(self, *items: int) -> Answer:
        """Ask one question, and wait for the answer."""
        self._questions.put(tuple(int(item) for item in items))
        return self._answers.get()

    def ask(self) -> Items | None:
        """Return the next question."""
        return self._questions.get()

    def tell(self, items: Items, answer: Answer) -> None:  # noqa: ARG002 - it is the last asked
        """Pass the answer on."""
        self._answers.put(answer)

    def result(self) -> NDArray[Any]:
        """Return what `solve` returned."""
        if self._outcome is None and self._questions.get() is not None:
            raise ValueError(f"{type(self).__name__} asks more than {self.task.budget} questions.")
        if isinstance(self._outcome, Exception):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome

    def _run(self) -> None:
        try:
            self._outcome = np.asarray(self.solve(self.task))
        except Exception as error:  # raised where the result is wanted
            self._outcome = error
        self._questions.put(None)


def play(
    make: Callable[[Task], Method], task: Task, oracle: Callable[[Items], Answer]
) -> tuple[NDArray[Any], Record]:
    """Ask until the budget is spent or the method stops; return its result and the record."""
    np.random.seed(task.seed)  # noqa: NPY002 - rivals take no generator
    method, record = make(task), Record()
    while len(record) < task.budget and (items := method.ask()) is not None:
        size = 2 if task.kind == "pair" else 1
        if len(items) != size or not all(0 <= item < len(task.X) for item in items):
            raise ValueError(f"A question has {size} items from 0 to {len(task.X) - 1}: {items}.")
        record.append((items, oracle(items)))
        method.tell(*record[-1])
    result = np.asarray(method.result())
    if len(result) != len(task.X):
        raise ValueError(f"There are {len(task.X)} items. Got a result for {len(result)}.")
    return result, record


def replay(make: Callable[[Task], Method], task: Task, record: Record) -> NDArray[Any]:
    """Run a method again, with the recorded answers alone."""
    left = iter(record)

    def oracle(items: Items) -> Answer:
        known, answer = next(left)
        if known != items:
            raise ValueError(f"The method asked {known}, and about {items} the second time.")
        return answer

    return play(make, task, oracle)[0]
