"""What happens in a session, as frozen records, and which moves are legal.

Rules of this file:
- An event is appended once and never rewritten; the state of a session is its events, folded.
- What a question is to one annotator is a Standing; MOVES says which event leads where. A move
  that is not in the table is refused, and a refused move changes nothing.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ANSWERS", "MOVES", "Event", "EventKind", "NewEvent", "Standing"]


class EventKind(StrEnum):
    """What happened."""

    ANSWER = "answer"
    UNSURE = "unsure"  # "cannot say": NaN for the plan
    HELD = "held"  # an answer from before the session; costs no budget
    SKIP = "skip"  # the question stays open, for later
    AGAIN = "again"  # the same answer with another key, which is used up by it
    UNDO = "undo"  # takes an answer, an unsure, a held answer or a skip back
    PAUSE = "pause"
    RESUME = "resume"
    RENAME = "rename"  # a cluster has another name
    ROWS = "rows"  # items were added
    BUDGET = "budget"  # another number of questions may be answered


ANSWERS = frozenset({EventKind.ANSWER, EventKind.UNSURE, EventKind.HELD})


class Standing(StrEnum):
    """What a question is to one annotator."""

    OPEN = "open"
    SKIPPED = "skipped"
    ANSWERED = "answered"


_GIVEN = {
    EventKind.ANSWER: Standing.ANSWERED,
    EventKind.UNSURE: Standing.ANSWERED,
    EventKind.HELD: Standing.ANSWERED,
    EventKind.SKIP: Standing.SKIPPED,
}
MOVES: dict[Standing, dict[EventKind, Standing]] = {
    Standing.OPEN: _GIVEN,
    Standing.SKIPPED: {**_GIVEN, EventKind.UNDO: Standing.OPEN},
    Standing.ANSWERED: {EventKind.UNDO: Standing.OPEN},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """What is appended to the log.

    Parameters
    ----------
    kind : EventKind
        What happened.
    key : str
        The client's key, different for every event of a session.
    annotator : str
        Who did it.
    question : int or None
        The question's number.
    value : float or None
        The answer in [0, 1]; for a rename where clusters are found anew by every result, the row
        that the name goes with; else None.
    target : int or None
        For an undo, the number of the event taken back; for a rename, the cluster; for rows, the
        part of the data; for a budget, the number of questions.
    text : str or None
        A cluster's new name.
    late : bool
        Whether an answer came after its lease had ended, or after the question was settled.
    """

    kind: EventKind
    key: str
    annotator: str
    question: int | None = None
    value: float | None = None
    target: int | None = None
    text: str | None = None
    late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(NewEvent):
    """An event in the log: with its number, which only grows, and the database's time."""

    id: int
    at: float
