"""What somebody says to a question, checked, as it is kept."""

import math
from numbers import Real
from typing import Any

from askmeans.exceptions import AnswerError
from askmeans.sessions.groups import Groups
from askmeans.sessions.log import Value

__all__ = ["as_number", "as_shares"]

_ROUNDED = 0.005  # how far from a point of a scale people write it: 33% of 1/3


def as_shares(value: Any, groups: Groups, names: list[str], levels: int | None) -> Value:
    """A row of shares by the groups' numbers."""
    row = groups.told_row(value, names)
    if any(map(math.isnan, row)):
        raise AnswerError(
            "An answer to a group question must be a group or shares, () for none of these. "
            f"Got {value!r:.60} instead; unsure() says that one cannot say."
        )
    if levels is not None:
        row = tuple(as_number(share, levels) for share in row)
        if sum(row) > 1.0 + 1e-9:
            raise AnswerError(
                f"Shares must sum to at most 1 on the session's scale. Got {sum(row):g} instead."
            )
    return groups.row_by_number(row)


def as_number(value: Any, levels: int | None) -> float:
    """A number from 0 to 1, one of the scale's points where there is a scale."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:  # type: ignore[operator]  # mypy sees no numbers ABC
        raise AnswerError(
            f"An answer must be a number in [0, 1]. Got {value!r:.60} instead; unsure() says that "
            "one cannot say."
        )
    if levels is None:
        return float(value) + 0.0  # -0.0 is 0.0
    point = round(float(value) * (levels - 1)) / (levels - 1)
    if abs(point - float(value)) > _ROUNDED:
        raise AnswerError(
            f"An answer must be one of the {levels} points of the session's scale, 0, "
            f"{1 / (levels - 1):.3g} and so on to 1. Got {value!r} instead; the nearest is "
            f"{point:.3g}."
        )
    return point
