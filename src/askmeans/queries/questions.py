"""One question: its kind, its items, its cluster and its repeat; and who answers."""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["ME", "MODEL", "Question", "is_model", "ordered"]

ME = "me"  # the annotator's name where none is stated
MODEL = "model: "  # prefix of the names of annotators that are language models


class Question(NamedTuple):
    """One question, as everybody knows it.

    Parameters
    ----------
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items; of a pair or a triplet in ascending order.
    cluster : int or None
        The cluster, for a membership.
    repeat : int
        Which asking of the same question it is, from 0.

    Examples
    --------
    >>> Question("pair", (3, 8))
    Question(kind='pair', items=(3, 8), cluster=None, repeat=0)
    """

    kind: str
    items: tuple[int, ...]
    cluster: int | None = None
    repeat: int = 0


def is_model(annotator: str) -> bool:
    """Whether an annotator is a language model, whose answers never stand as people's do.

    Parameters
    ----------
    annotator : str
        A name.

    Returns
    -------
    bool
        By how the name begins.

    Examples
    --------
    >>> is_model("model: small"), is_model("Ada")
    (True, False)
    """
    return annotator.startswith(MODEL)


def ordered(kind: str, items: Iterable[int]) -> tuple[int, ...]:
    """Items as a question has them: ascending, unless it matters which stands where."""
    return tuple(items) if kind == "relative" else tuple(sorted(items))
