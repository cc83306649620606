"""The points of the answers' scale, their words, and how a value is said."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Point", "points_of", "say", "say_fully", "slider_step"]

Value = float | tuple[float, ...]

_POINTS = 5
_MOST_BUTTONS = 9  # one for each key from 1 to 9
_WORDS = {
    "membership": ("not at all", "a little", "half", "mostly", "entirely"),
    "similarity": ("surely not", "unlikely", "even chance", "likely", "surely"),
}
_SIDES = ((1.0, "more like the left"), (0.5, "both alike"), (0.0, "more like the right"))
_FRACTIONS = {0.25: "¼", 0.5: "½", 0.75: "¾"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A button of the scale."""

    key: str
    value: float
    shown: str
    word: str


def points_of(ask: str, levels: int | None) -> list[Point]:
    """The buttons; none where the scale is too fine for keys, and the slider does it."""
    if ask == "relative":
        return [
            Point(key=str(place), value=value, shown=word, word=word)
            for place, (value, word) in enumerate(_SIDES, start=1)
        ]
    n = _POINTS if levels is None else levels
    if not 2 <= n <= _MOST_BUTTONS:
        return []
    values = [place / (n - 1) for place in range(n)]
    return [
        Point(key=str(place), value=value, shown=say(value), word=_word(value, ask))
        for place, value in enumerate(values, start=1)
    ]


def slider_step(levels: int | None) -> float:
    """How far the slider goes at a step: a twentieth, or the session's own scale."""
    return 0.05 if levels is None or levels < 2 else 1.0 / (levels - 1)


def say(value: Value | None, names: Sequence[str] = (), ask: str = "") -> str:
    """A value as people read it; shares by the groups' names."""
    if value is None:
        return "cannot say"
    if ask == "relative" and value in dict(_SIDES):
        return dict(_SIDES)[float(value)]
    if isinstance(value, tuple):
        return _say_row(value, names)
    if value in _FRACTIONS:
        return _FRACTIONS[value]
    return f"{value:.2f}".rstrip("0").rstrip(".")


def say_fully(value: Value | None, ask: str, names: Sequence[str] = ()) -> str:
    """A value with its word, where it has one."""
    if value is None or isinstance(value, tuple) or ask == "relative":
        return f"“{say(value, names, ask)}”"
    word = _word(value, ask)
    return f"“{word}” ({say(value)})" if word else f"“{say(value)}”"


def _say_row(row: tuple[float, ...], names: Sequence[str]) -> str:
    """A row of shares: a group, several in percent, or none of these."""
    shares: dict[str, float] = {}
    for name, share in zip(names, row, strict=False):
        if share > 0.0:  # merged groups have one name
            shares[name] = shares.get(name, 0.0) + share
    if not shares:
        return "none of these"
    if list(shares.values()) == [1.0]:
        return next(iter(shares))
    parts = [f"{share:.0%} {name}" for name, share in shares.items()]
    rest = 1.0 - sum(shares.values())
    return ", ".join([*parts, f"{rest:.0%} none of these"] if rest > 0.005 else parts)


def _word(value: float, ask: str) -> str:
    """The word of one of the five points; between them the number says enough."""
    words = _WORDS["membership" if ask == "membership" else "similarity"]
    place = value * (len(words) - 1)
    return words[round(place)] if abs(place - round(place)) < 1e-9 else ""
