"""How long people take for an answer, from those they gave last."""

import statistics
from itertools import pairwise

from askmeans.sessions.events import EventKind
from askmeans.sessions.state import State

__all__ = ["SECONDS_PER_QUESTION", "pace_of"]

SECONDS_PER_QUESTION = 5.0  # as `askmeans plan` has it, until people's own pace is known
_KNOWN = 5  # answers from which it is known
_LAST = 20  # of everybody's answers that are looked at: people get quicker
_BREAK = 120.0  # seconds after which somebody was away, not thinking


def pace_of(state: State) -> tuple[float, str]:
    """Seconds that an answer takes, and where that is known from."""
    gaps = []
    for stack in state.recent(_LAST + 1):
        gaps += [
            event.at - before.at
            for before, event in pairwise(stack)
            if event.kind in (EventKind.ANSWER, EventKind.UNSURE)
        ]
    gaps = [gap for gap in gaps if 0.0 <= gap < _BREAK]  # a clock may be set back
    if len(gaps) < _KNOWN:
        return SECONDS_PER_QUESTION, f"{SECONDS_PER_QUESTION:g} seconds a question"
    seconds = statistics.median(gaps)
    return seconds, f"{seconds:.1f} seconds a question, as so far"
