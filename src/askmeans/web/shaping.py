"""The groups as they are shaped by hand: examples and pins, what may be split off."""

from dataclasses import dataclass

from askmeans.sessions import Session
from askmeans.web.cards import Cards, ItemView
from askmeans.web.drawing import colors_of

__all__ = ["ShapedGroup", "group_page_of"]

_EXAMPLES = 6
_PLACED = 60  # items of a group that are listed
_MOST = 0.5  # of an item that somebody placed in a group


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapedGroup:
    """A group on the page about groups."""

    number: int
    name: str
    about: str  # what belongs there, in a line
    color: str
    examples: tuple[tuple[ItemView, bool], ...]  # with whether it is pinned
    placed: tuple[ItemView, ...]  # items that somebody placed in it, the newest first


def group_page_of(session: Session, cards: Cards, annotator: str) -> list[ShapedGroup]:
    """Every group with its examples and what this person placed in it."""
    groups = session.groups
    placed: dict[int | None, list[int]] = {group.number: [] for group in groups}
    for receipt in reversed(session.history(annotator=annotator)):
        if not isinstance(receipt.value, tuple) or receipt.question is None:
            continue
        most = max(range(len(receipt.value)), key=receipt.value.__getitem__)
        mine = placed.get(session.group_number(most))
        if mine is not None and receipt.value[most] > _MOST and len(mine) < _PLACED:
            mine.append(session.question(receipt.question).items[0])
    found = []
    for group, color in zip(groups, colors_of(len(groups)), strict=True):
        pinned = set(session.pinned(group.number))
        rows = session.exemplars(group.number, n=max(_EXAMPLES, len(pinned)))
        found.append(
            ShapedGroup(
                number=group.number,
                name=group.name,
                about=group.description,
                color=color,
                examples=tuple((cards.item(row), row in pinned) for row in rows),
                placed=tuple(cards.item(row) for row in dict.fromkeys(placed[group.number])),
            )
        )
    return found
