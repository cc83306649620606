"""Sentences that can be translated: English text that remembers what it was made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Percent:
    """A share within a message, in percent with up to three digits.

    >>> str(Percent(0.125))
    '12.5 %'
    """

    share: float

    def __str__(self) -> str:
        return f"{100 * self.share:.3g} %"


@dataclass(frozen=True, slots=True)
class Number:
    """A number within a message, with two decimal places at most.

    >>> str(Number(0.5)), str(Number(1.0))
    ('0.5', '1')
    """

    value: float

    def __str__(self) -> str:
        return f"{self.value:.2f}".rstrip("0").rstrip(".")


class Message(str):
    """A sentence for people: a string in English, which the page shows in the reader's language.

    Everywhere else it is its English text.

    Parameters
    ----------
    template : str
        The sentence in English, with placeholders: "There are {n_items} items." It is a literal,
        so that the catalogues of translations can be extracted (`make catalogues`).
    **values : object
        What the placeholders stand for. Whole numbers get separators of thousands; other messages
        are translated, too; strings stay.

    Attributes
    ----------
    template, plural : str, str or None
        The sentence, and the one for several, where there is such.
    values : dict
        The values; "n" decides between the two.

    Examples
    --------
    >>> Message("There are {n_items} items.", n_items=1200)
    'There are 1,200 items.'
    """

    template: str
    plural: str | None
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Self:
        return cls._make(template, None, values)

    def filled(self, **values: Any) -> Self:
        """The same sentence with values for its placeholders."""
        return self._make(self.template, self.plural, values)

    @classmethod
    def of(cls, value: Percent | Number) -> Self:
        """A value alone, which is written as in the reader's language."""
        return cls._make("{value}", None, {"value": value})

    @classmethod
    def _make(cls, template: str, plural: str | None, values: dict[str, Any]) -> Self:
        """A message, in English."""
        chosen = template if plural is None or values["n"] == 1 else plural
        shown = {name: english(value) for name, value in values.items()}
        message = super().__new__(cls, chosen.format(**shown) if values else chosen)
        message.template, message.plural, message.values = template, plural, values
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return self._make, (self.template, self.plural, self.values)


def plural_message(one: str, several: str, n: int, /, **values: Any) -> Message:
    """A message whose words depend on a number.

    >>> plural_message("{n} item in {group}", "{n} items in {group}", 3, group="plums")
    '3 items in plums'
    """
    return Message._make(one, several, {"n": n, **values})


def listed(parts: Sequence[str]) -> str:
    """The parts as a list within a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *others, last = parts
    if not others:
        return last
    return Message("{some} and {last}", some=joined(others), last=last)


def joined(parts: Sequence[str]) -> str:
    """The parts with commas between them.

    >>> joined(["a", "b"])
    'a, b'
    """
    text, *others = parts
    for other in others:
        text = Message("{some}, {another}", some=text, another=other)
    return text


def english(value: Any) -> str:
    """A value within an English sentence."""
    return f"{value:,}" if isinstance(value, int) else str(value)
