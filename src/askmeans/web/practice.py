"""Cards to practise on: items whose group is plain, with feedback; nothing of it is kept."""

from dataclasses import dataclass

from askmeans.sessions import Session
from askmeans.web.cards import Cards, Choice, ItemView

__all__ = ["CARDS", "PracticeCard", "practice_card", "practice_items"]

CARDS = 3
_EXAMPLES = 5  # of a group, the last of which is practised on: the first are shown beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeCard:
    """A card like a real one, whose answer is known."""

    number: int  # from 1
    of: int
    item: ItemView
    choices: tuple[Choice, ...]
    group: int  # where it belongs
    name: str


def practice_items(session: Session) -> list[tuple[int, int]]:
    """Rows to practise on with their groups, one of each group; empty where too little is known."""
    if session.config.ask != "group":
        return []
    found = []
    for group in session.groups:
        rows = session.exemplars(group.number, n=_EXAMPLES)
        if len(rows) > 1:
            found.append((rows[-1], group.number))
    return found[:CARDS] if len(found) > 1 else []


def practice_card(session: Session, cards: Cards, number: int) -> PracticeCard | None:
    """The practice card of this number, from 1; None where there is none."""
    items = practice_items(session)
    if not 1 <= number <= len(items):
        return None
    row, group = items[number - 1]
    return PracticeCard(
        number=number, of=len(items), item=cards.item(row), choices=cards.choices((row,)),
        group=group, name=session.group_names[group],
    )  # fmt: skip
