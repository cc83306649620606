"""One question: its kind, its items, its cluster and its repeat; names of annotators."""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["ME", "MODEL", "Question", "is_model", "ordered"]

ME = "me"  # the default name of an annotator
MODEL = "model: "  # prefix of the names of language models


class Question(NamedTuple):
    """One question.

    Parameters
    ----------
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items, ascending for pairs and triplets.
    cluster : int or None
        The cluster, for a membership.
    repeat : int
        Number of the repetition, from 0.

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
    """Whether an annotator is a language model, whose answers are advice and not evidence.

    Parameters
    ----------
    annotator : str
        A name.

    Returns
    -------
    bool
        Whether the name has the prefix of models.

    Examples
    --------
    >>> is_model("model: small"), is_model("Ada")
    (True, False)
    """
    return annotator.startswith(MODEL)


def ordered(kind: str, items: Iterable[int]) -> tuple[int, ...]:
    """Return items in the order of a question: ascending, unless the order matters."""
    return tuple(items) if kind == "relative" else tuple(sorted(items))
