"""The order in which the page shows groups, and their colours, as an owner chose them.

The option "group_look" has the numbers of groups in order, each with ":" and the place of its
colour in the palette if one was chosen: "3:5 0 2:1". Others follow, in colours of their own.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from askmeans.sessions import Session
from askmeans.web.drawing import N_COLORS, colors_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """An order of groups, and colours of some of them."""

    order: tuple[int, ...] = ()
    chosen: dict[int, int] = field(default_factory=dict)  # places in the palette

    @classmethod
    def of(cls, session: Session) -> "Look":
        """The look that a session's owner chose; what cannot be read is left out."""
        words = [word.split(":") for word in str(session.settings.options["group_look"]).split()]
        known = [[int(part) for part in word] for word in words if all(map(_is_digits, word))]
        return cls(
            order=tuple(word[0] for word in known),
            chosen={word[0]: word[1] % N_COLORS for word in known if len(word) > 1},
        )

    def __str__(self) -> str:
        return " ".join(
            f"{number}:{self.chosen[number]}" if number in self.chosen else str(number)
            for number in self.order
        )

    def arranged(
        self, session: Session, things: Iterable[T], number: Callable[[T], int]
    ) -> list[T]:
        """Things of groups in the order of the groups at the top that these are within."""
        if not self.order:  # every card asks
            return list(things)
        places = {each: place for place, each in enumerate(self.order)}
        tops: dict[int, int] = {}
        for group in session.groups:
            tops[group.number] = group.number if group.parent is None else tops[group.parent]

        def place(thing: T) -> int:
            return places.get(tops.get(number(thing), -1), len(places))

        return sorted(things, key=place)

    def colors(self, session: Session) -> dict[int, str]:
        """The colours of groups by their numbers; without a choice that of its place."""
        numbers = [group.number for group in session.groups]
        every = colors_of(max(N_COLORS, len(numbers)))
        return {
            number: every[self.chosen.get(number, place)] for place, number in enumerate(numbers)
        }

    def with_color(self, numbers: list[int], number: int, color: int) -> "Look":
        """The same order, with another colour of a group."""
        return replace(self, order=tuple(numbers), chosen=self.chosen | {number: color})

    def with_move(self, numbers: list[int], number: int, by: int) -> "Look":
        """A group some places further down, or up."""
        others = [each for each in numbers if each != number]
        place = min(max(numbers.index(number) + by, 0), len(others))
        return replace(self, order=(*others[:place], number, *others[place:]))


def _is_digits(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 7
