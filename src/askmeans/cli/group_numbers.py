"""Groups on the command line: by name, or by the number that the page shows, which begins at 1.

In Python and in files a group keeps the number from 0 that it was made with. Here, as on the page,
the groups of now are counted.
"""

import math
from typing import Any

from askmeans.exceptions import ParameterError
from askmeans.queries import ME
from askmeans.queries.shares import group_of, parse_row
from askmeans.sessions import Group, Session

__all__ = ["FIRST", "listed_groups", "named_group", "numbered", "parse_shares",
           "rename_group"]  # fmt: skip

FIRST = 1  # number of the first group, here and on the page


def numbered(session: Session) -> list[tuple[int, Group]]:
    """The groups with the page's numbers."""
    return list(enumerate(session.groups, FIRST))


def listed_groups(session: Session) -> str:
    """The groups, by number and name."""
    return ", ".join(f"{number} {group.name}" for number, group in numbered(session))


def named_group(session: Session, text: str) -> int:
    """The session's number of the group that was named; a ParameterError lists those there are."""
    groups = session.groups
    place = group_of(text.strip(), [group.name for group in groups], FIRST)
    if place is None:
        raise ParameterError(
            f"GROUP must be one of the groups, by number or name: {listed_groups(session)}. "
            f"Got {text!r:.60} instead."
        )
    return groups[place].number


def rename_group(session: Session, text: str, name: str, *, annotator: str = ME) -> None:
    """Rename the group that was named."""
    number = named_group(session, text)
    others = [group.name for group in session.groups if group.number != number]
    if name.strip() in (*others, "id"):
        raise ParameterError(
            "NAME must be no other group's and not 'id', which is a column of every export. "
            f"Got {name!r:.60}; there are {listed_groups(session)}."
        )
    session.rename(number, name, annotator=annotator)


def parse_shares(session: Session, reply: str) -> Any:
    """Shares by the session's numbers; NaN for "cannot say", None for what is no answer."""
    groups = session.groups
    row = parse_row(reply, [group.name for group in groups], FIRST)
    if row is None:
        return None
    if any(map(math.isnan, row)):
        return math.nan
    return {group.number: share for group, share in zip(groups, row, strict=True) if share > 0.0}
