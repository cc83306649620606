"""The points of the answers' scale, their words, and how a value is said."""

from dataclasses import dataclass

__all__ = ["Point", "points_of", "say", "say_fully", "slider_step"]

_POINTS = 5
_MOST_BUTTONS = 9  # one for each key from 1 to 9
_WORDS = {
    "membership": ("not at all", "a little", "half", "mostly", "entirely"),
    "similarity": ("surely not", "unlikely", "even chance", "likely", "surely"),
}
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


def say(value: float | None) -> str:
    """A value as people read it."""
    if value is None:
        return "cannot say"
    if value in _FRACTIONS:
        return _FRACTIONS[value]
    return f"{value:.2f}".rstrip("0").rstrip(".")


def say_fully(value: float | None, ask: str) -> str:
    """A value with its word, where it has one."""
    word = "" if value is None else _word(value, ask)
    return f"“{word}” ({say(value)})" if word else f"“{say(value)}”"


def _word(value: float, ask: str) -> str:
    """The word of one of the five points; between them the number says enough."""
    words = _WORDS["membership" if ask == "membership" else "similarity"]
    place = value * (len(words) - 1)
    return words[round(place)] if abs(place - round(place)) < 1e-9 else ""
