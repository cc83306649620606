"""The scale of a session's answers, and values in words: points, shares of groups, groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from askmeans._util.message import Message, Number, Percent, joined
from askmeans.sessions import Session

Value = float | tuple[float, ...]

_N_POINTS = 5
_MOST_BUTTONS = 9  # one for each key from 1 to 9
_WORDS = {
    "membership": (
        Message("not at all"),
        Message("a little"),
        Message("half"),
        Message("mostly"),
        Message("entirely"),
    ),
    "similarity": (
        Message("surely not"),
        Message("unlikely"),
        Message("even chance"),
        Message("likely"),
        Message("surely"),
    ),
}
_SIDES = {
    1.0: Message("more like the left"),
    0.5: Message("both alike"),
    0.0: Message("more like the right"),
}
_FRACTIONS = {0.25: "¼", 0.5: "½", 0.75: "¾"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A button of the scale."""

    key: str
    value: float
    shown: str
    word: str


def scale_of(session: Session) -> dict[str, Any]:
    """The scale of a session's answers, as the templates read it."""
    config = session.config
    return {
        "points": [] if config.ask == "group" else points_of(config.ask, config.levels),
        "step": slider_step(config.levels),
        "ask": config.ask,
    }


def points_of(ask: str, levels: int | None) -> list[Point]:
    """The buttons; none if the scale is too fine for keys, which gets a slider."""
    words: dict[float, str] = dict(_SIDES)
    if ask != "relative":
        n = _N_POINTS if levels is None else levels
        if not 2 <= n <= _MOST_BUTTONS:
            return []
        words = {place / (n - 1): _word(place / (n - 1), ask) for place in range(n)}
    return [
        Point(
            key=str(key),
            value=value,
            shown=word if ask == "relative" else describe(value),
            word=word,
        )
        for key, (value, word) in enumerate(words.items(), start=1)
    ]


def slider_step(levels: int | None) -> float:
    """A step of the slider: a twentieth, or the session's own scale."""
    return 0.05 if levels is None or levels < 2 else 1.0 / (levels - 1)


def describe(value: Value | None, names: Sequence[str] = (), ask: str = "") -> str:
    """Format a value; shares with the groups' names."""
    if value is None:
        return Message("cannot say")
    if isinstance(value, tuple):
        return _describe_shares(value, names)
    if ask == "relative" and value in _SIDES:
        return _SIDES[value]
    if value in _FRACTIONS:
        return _FRACTIONS[value]
    return Message.of(Number(value))


def describe_fully(value: Value | None, ask: str, names: Sequence[str] = ()) -> str:
    """Format a value, with its word if it has one."""
    if value is None or isinstance(value, tuple) or ask == "relative":
        return Message("“{answer}”", answer=describe(value, names, ask))
    word = _word(value, ask)
    if not word:
        return Message("“{answer}”", answer=describe(value))
    return Message("“{word}” ({answer})", word=word, answer=describe(value))


def _describe_shares(row: tuple[float, ...], names: Sequence[str]) -> str:
    """A group, several in percent, or none of these."""
    shares: dict[str, float] = {}
    for name, share in zip(names, row, strict=False):
        if share > 0.0:  # merged groups have one name
            shares[name] = shares.get(name, 0.0) + share
    if not shares:
        return Message("none of these")
    if list(shares.values()) == [1.0]:
        return next(iter(shares))
    rest = 1.0 - sum(shares.values())
    if rest > 0.005:
        shares[Message("none of these")] = rest
    return joined(
        [
            Message("{share} {group}", share=Percent(round(share, 2)), group=name)
            for name, share in shares.items()
        ]
    )


def _word(value: float, ask: str) -> str:
    """The word of one of the five points; other values have none."""
    words = _WORDS["membership" if ask == "membership" else "similarity"]
    place = value * (len(words) - 1)
    return words[round(place)] if abs(place - round(place)) < 1e-9 else ""
