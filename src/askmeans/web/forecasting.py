"""The number of wrong items so far, how many more cards would fix, and when it is enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askmeans.results import ErrorEstimate, expected_wrong_text, rounded

_MORE = 20  # cards to forecast for
_LAST = 5  # estimates that the slope is fitted to
_FEWEST = 3
_ROOT = -0.5  # the slope with too few points: errors fall with the root of the answers
_STEEPEST = -1.5
_LITTLE = 0.9  # of the wrong items that are left, from which their number hardly changed
_NONE = 1e-6  # fewer wrong items than this are none


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """How many items are probably in the wrong group, and how many would be after more cards."""

    curve: tuple[ErrorEstimate, ...]  # each with a number of wrong items
    n_items: int
    target: float | None  # share of wrong items below which it is good enough; None: another rule
    is_good: bool  # whether it is good enough by the session's own rule
    more: int  # cards
    after: float  # wrong items to expect then

    @property
    def wrong(self) -> float:
        """How many items are probably in the wrong group now."""
        return self.curve[-1].wrong or 0.0

    @property
    def sentence(self) -> str:
        """Format the forecast, with its interval."""
        return expected_wrong_text(self.wrong, self.n_items, self.curve[-1].wrong_band)

    @property
    def fixed(self) -> int:
        """About how many wrong items the next cards would fix."""
        return rounded(max(0.0, self.wrong - self.after))

    @property
    def brings_little(self) -> bool:
        """Whether more cards would hardly change the number."""
        return self.fixed == 0 or self.after > _LITTLE * self.wrong

    @property
    def is_early(self) -> bool:
        """Whether the number is small enough, but too few answers support it."""
        is_few = self.target is not None and self.wrong < self.target * self.n_items
        return is_few and not self.is_good


def outlook_of(
    curve: Sequence[ErrorEstimate],
    *,
    n_items: int,
    n_questions: int,
    target: float | None,
    is_good: bool,
) -> Outlook | None:
    """The forecast for more cards from the estimates so far; None without any."""
    known = tuple(each for each in curve if each.wrong is not None)
    if not known:
        return None
    more = max(0, min(_MORE, n_questions - known[-1].answers))
    return Outlook(
        curve=known, n_items=n_items, target=target, is_good=is_good, more=more,
        after=_wrong_after(known, more, n_questions),
    )  # fmt: skip


def _wrong_after(curve: Sequence[ErrorEstimate], more: int, n_questions: int) -> float:
    """Wrong items to expect after more answers.

    Their share of the unasked items falls with a power of the number of answers, and fewer are
    unasked.
    """
    unasked = [max(0, n_questions - each.answers) for each in curve]
    shares = [
        (each.answers, (each.wrong or 0.0) / left)
        for each, left in zip(curve, unasked, strict=True)
        if left and (each.wrong or 0.0) > _NONE
    ]
    answers, wrong = curve[-1].answers, curve[-1].wrong or 0.0
    slope = _ROOT
    if len(shares) >= _FEWEST:
        x, y = np.log(shares[-_LAST:]).T
        if np.ptp(x) > 0.0:
            slope = float(np.clip(np.polyfit(x, y, 1)[0], _STEEPEST, 0.0))
    left = (unasked[-1] - more) / unasked[-1] if unasked[-1] else 0.0
    return wrong * math.exp(slope * math.log((answers + more) / answers)) * left
