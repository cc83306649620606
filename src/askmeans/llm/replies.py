"""What a language model wrote, as an answer: strictly, or not at all.

An answer is one JSON object of the form that was asked for, with nothing around it. Whatever else
a model writes is refused.
"""

import json
import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np

from askmeans.exceptions import AnswerError
from askmeans.llm.prompts import labels
from askmeans.queries import Question

__all__ = ["Reply", "parsed", "spread"]

Row = tuple[float, ...]
_NONE = "none"
_LEAST = 0.5  # of the probability that must be on answers there are: the label is no accident
_SLACK = 0.02  # by which shares may exceed 1 together: four that were rounded up to hundredths


class Reply(str):
    """What a model wrote, with what it cost; a plain str will do where that is not known.

    Parameters
    ----------
    text : str
        What it wrote.
    tokens_in : int or None, default=None
        Tokens of the prompt; None for unknown.
    tokens_out : int or None, default=None
        Tokens written.
    logprobs : sequence of (str, dict) or None, default=None
        For each token written, the logarithms of the probabilities of the likeliest ones.

    Examples
    --------
    >>> Reply('{"group": "A"}', tokens_in=120, tokens_out=6).tokens_in
    120
    """

    tokens_in: int | None
    tokens_out: int | None
    logprobs: tuple[tuple[str, dict[str, float]], ...]

    def __new__(
        cls,
        text: str,
        *,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        logprobs: Sequence[tuple[str, dict[str, float]]] | None = None,
    ) -> Self:
        """A text with its cost."""
        reply = super().__new__(cls, text)
        reply.tokens_in = tokens_in
        reply.tokens_out = tokens_out
        reply.logprobs = tuple(logprobs or ())
        return reply


def parsed(text: str, question: Question, n_clusters: int) -> float | Row:
    """The answer, or an AnswerError: a number, or a row for a group; NaN for "cannot say"."""
    try:
        told = json.loads(text.strip(), object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"An answer must be one JSON object. Got {text!r:.80}.") from error
    if not isinstance(told, dict) or len(told) != 1:
        raise AnswerError(f"An answer must be an object with one key. Got {text!r:.80}.")
    ((key, value),) = told.items()
    read = _READERS[question.kind].get(key)
    found = None if read is None else read(value, n_clusters)
    if found is None:
        raise AnswerError(f"An answer must be as asked for. Got {text!r:.80}.")
    return found


def spread(reply: Reply, question: Question, n_clusters: int, row: Row) -> Row:
    """The row of a group by the probabilities of the labels, where the model told them.

    What it gives "none" is left of the row.
    """
    if question.kind != "group" or not (1.0 in row or not any(row)):
        return row
    known = labels(n_clusters)
    said, text = row.index(1.0) if any(row) else n_clusters, ""
    for token, likely in reply.logprobs:
        if '"group"' in text and _place(token, known) == said:
            chance = np.zeros(n_clusters + 1)  # the last is "none"
            for other, logarithm in likely.items():
                place = _place(other, known)
                if place is not None:
                    chance[place] += math.exp(min(logarithm, 0.0))
            total = float(chance.sum())
            return tuple((chance[:-1] / total).tolist()) if total >= _LEAST else row
        text += token
    return row


def _place(token: str, known: Sequence[str]) -> int | None:
    """Which label a token is, "none" or its beginning after all others; None for no label."""
    name = token.strip().strip('"')
    if name in known:
        return known.index(name)
    return len(known) if name and _NONE.startswith(name) else None


def _group(value: Any, n_clusters: int) -> Row | None:
    """One group, none of these, or "cannot say"."""
    if value is None:
        return (math.nan,) * n_clusters
    if value == _NONE:
        return (0.0,) * n_clusters
    return _shares({value: 1.0} if isinstance(value, str) else None, n_clusters)


def _shares(value: Any, n_clusters: int) -> Row | None:
    """Shares over groups."""
    known = labels(n_clusters)
    if not isinstance(value, dict) or not value or not set(value) <= {*known, _NONE}:
        return None
    shares = [_number(share, n_clusters) for share in value.values()]
    if any(share is None or math.isnan(share) for share in shares):
        return None
    row = dict(zip(value, map(float, filter(lambda s: s is not None, shares)), strict=True))  # type: ignore[arg-type]  # none is None
    total = sum(row.values())
    if total > 1.0 + _SLACK:
        return None
    return tuple(row.get(label, 0.0) / max(total, 1.0) for label in known)


def _number(value: Any, _: int) -> float | None:
    """A number from 0 to 1; NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:  # type: ignore[operator]  # mypy sees no numbers ABC
        return None
    return float(value)


def _more_like(value: Any, _: int) -> float | None:
    """Which of two the first item is more like."""
    if value is None:
        return math.nan
    return {"b": 1.0, "c": 0.0, "both": 0.5}.get(value) if isinstance(value, str) else None


_READERS: dict[str, dict[str, Callable[[Any, int], float | Row | None]]] = {
    "group": {"group": _group, "shares": _shares},
    "membership": {"membership": _number},
    "pair": {"similarity": _number},
    "triplet": {"similarity": _number},
    "relative": {"more_like": _more_like},
}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are different."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(word: str) -> Any:
    """NaN and Infinity are no JSON."""
    raise ValueError(word)
