"""Why go on: the error so far, what more cards would bring, and whether it is good enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askmeans.results import ErrorEstimate

__all__ = ["MORE", "Outlook", "outlook_of"]

MORE = 20  # cards that are looked ahead
_LAST = 5  # estimates that tell how the error falls
_FEWEST = 3
_ROOT = -0.5  # how it falls where too little is known: with the root of the answers
_STEEPEST = -1.5
_LITTLE = 0.9  # of the error that is left, from which it hardly changed
_SEEN = 1e-6  # an error below this is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Where the error stands, and where it would be after more cards."""

    curve: tuple[ErrorEstimate, ...]
    precision: float | None  # from which on it is good enough; None where the session has none
    more: int  # cards looked ahead
    after: float  # the error to expect then

    @property
    def now(self) -> ErrorEstimate:
        """The newest estimate."""
        return self.curve[-1]

    @property
    def brings_little(self) -> bool:
        """Whether more cards would hardly change the error."""
        return self.after > _LITTLE * self.now.error

    @property
    def is_good(self) -> bool:
        """Whether the estimate is below the session's precision."""
        return self.precision is not None and self.now.error < self.precision


def outlook_of(
    curve: Sequence[ErrorEstimate], *, n_questions: int, precision: float | None
) -> Outlook | None:
    """What the estimates so far say about more cards; None before there are any."""
    if not curve:
        return None
    now = curve[-1]
    more = max(0, min(MORE, n_questions - now.answers))
    return Outlook(curve=tuple(curve), precision=precision, more=more,
                   after=_after(curve, more, n_questions))  # fmt: skip


def _after(curve: Sequence[ErrorEstimate], more: int, n_questions: int) -> float:
    """The error to expect after more answers: a power of their number, and fewer unasked."""
    now = curve[-1]
    told = [each for each in curve if each.error > _SEEN][-_LAST:]
    slope = _ROOT
    if len(told) >= _FEWEST:
        x = np.log([each.answers for each in told])
        y = np.log([each.error for each in told])
        if np.ptp(x) > 0.0:
            slope = float(np.clip(np.polyfit(x, y, 1)[0], _STEEPEST, 0.0))
    unasked = max(0, n_questions - now.answers)
    left = (unasked - more) / unasked if unasked else 0.0
    return now.error * math.exp(slope * math.log((now.answers + more) / now.answers)) * left
