"""Questions under way in several threads: what was said, what failed, and why it ended."""

import threading
from collections.abc import Callable

from askmeans.exceptions import DataError, ModelBusyError, ModelError
from askmeans.oracles.model_calls import RefusedError, Spent
from askmeans.queries import Question

__all__ = ["Batch"]

Value = float | tuple[float, ...]
# Failures after which others may still be asked: for now, or because of the item itself.
_OF_ONE_QUESTION = (ModelBusyError, TimeoutError, ConnectionError, RefusedError, DataError)
_IN_A_ROW = 10  # questions that fail one after the other, from which on nothing more is tried


class Batch:
    """Asks questions, until somebody says that it has ended; for several threads.

    `card` answers a question; `failed` are the questions that could not be asked, of this batch
    and before.
    """

    def __init__(
        self, card: Callable[[Question], Value], ended: threading.Event, failed: set[Question]
    ) -> None:
        self.said: dict[Question, Value] = {}
        self.failed = failed
        self.cause: Exception | None = None
        self.is_spent = False
        self.ended = ended
        self.ended.clear()
        self._card = card
        self._in_a_row = 0
        self._lock = threading.Lock()

    def ask(self, question: Question) -> None:
        """Have a question answered, unless all has ended."""
        if self.ended.is_set():
            return
        try:
            value = self._card(question)
        except _OF_ONE_QUESTION as error:
            self._note(question, error)
        except Spent:
            self.is_spent = True
            self.ended.set()
        except Exception as error:  # what was answered is not thrown away with it
            self.cause = self.cause or error
            self.ended.set()
        else:
            with self._lock:
                self._in_a_row = 0
                self.failed.discard(question)
                self.said[question] = value

    def _note(self, question: Question, error: Exception) -> None:
        """Note a question that could not be asked; of many in a row, give up."""
        with self._lock:
            if self.ended.is_set():
                return  # it was not tried as often as it might have been
            self._in_a_row += 1
            self.failed.add(question)
            if self._in_a_row >= _IN_A_ROW:
                self.cause = ModelError(
                    f"The model must answer. Got {self._in_a_row} questions in a row that failed "
                    f"in spite of several tries, the last with: {error}. What it said is kept; try "
                    "again later."
                )
                self.ended.set()
