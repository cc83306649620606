"""Answers to group questions after there are more groups: what they say, and what to ask again.

Rules of this file:
- A row is silent about groups that came later, unless it sums to one: then nothing is left.
- What was in none of the groups, when there were fewer, is asked again, as a repeat of its
  question; the new answer takes the place of the old.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

from askmeans.queries import Answer, Question
from askmeans.queries.values import Row

__all__ = ["filled", "renumbered", "to_ask_again", "without_replaced"]

WHOLE = 1.0 - 1e-6  # shares that sum to one
_NOWHERE = 0.5  # of a row: less is in none of the groups, as `askmeans.policy.evidence` has it


def filled(row: Row, n_clusters: int) -> Row:
    """A row with a place for every group: 0 or NaN for those that came later."""
    rest = 0.0 if math.fsum(row) >= WHOLE else math.nan
    return row + (rest,) * (n_clusters - len(row))


def without_replaced(answers: Iterable[Answer]) -> list[Answer]:
    """Answers without those that left an item in no group, and were asked for again since."""
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
    """Questions about items that were in none of the groups before there were others."""
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
    """Answers whose repeats count what is kept: what was asked again is the question it replaced.

    So a policy knows that the question was asked.
    """
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
    """Whether a row leaves an item in none of the groups, and is silent about another."""
    if not isinstance(answer.value, tuple):
        return False
    silent = sum(map(math.isnan, answer.value))
    told = math.fsum(share for share in answer.value if not math.isnan(share))
    return 0 < silent < len(answer.value) and told < _NOWHERE
