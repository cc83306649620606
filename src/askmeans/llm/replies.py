"""Strict parsing of a language model's reply.

An answer is one JSON object of the required form and nothing else. Any other text is refused.
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

__all__ = ["Reply", "parsed", "shares_of_labels"]

Row = tuple[float, ...]
_NONE = "none"
_LEAST = 0.5  # of the probability must be on valid labels, else the token was no label
_SLACK = 0.02  # by which a sum of shares may exceed 1: four shares rounded up to hundredths


class Reply(str):
    """The text of a model's reply with its cost; a client that does not know it returns a str.

    Parameters
    ----------
    text : str
        The text.
    tokens_in : int or None, default=None
        Tokens of the prompt; None for unknown.
    tokens_out : int or None, default=None
        Tokens written.
    logprobs : sequence of (str, dict) or None, default=None
        For each token written, the log probabilities of the most probable alternatives.
    lost_tries : int, default=0
        Earlier tries of the client that got no reply and may be billed.

    Examples
    --------
    >>> Reply('{"group": "A"}', tokens_in=120, tokens_out=6).tokens_in
    120
    """

    tokens_in: int | None
    tokens_out: int | None
    logprobs: tuple[tuple[str, dict[str, float]], ...]
    lost_tries: int

    def __new__(
        cls,
        text: str,
        *,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        logprobs: Sequence[tuple[str, dict[str, float]]] | None = None,
        lost_tries: int = 0,
    ) -> Self:
        """Make a text with its cost."""
        reply = super().__new__(cls, text)
        reply.tokens_in = tokens_in
        reply.tokens_out = tokens_out
        reply.logprobs = tuple(logprobs or ())
        reply.lost_tries = lost_tries
        return reply


def parsed(text: str, question: Question, n_clusters: int) -> float | Row:
    """Return a number, or a row for a group, NaN for "cannot say"; else raise an AnswerError."""
    try:
        reply = json.loads(text.strip(), object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise AnswerError(f"An answer must be one JSON object. Got {text!r:.80}.") from error
    if not isinstance(reply, dict) or len(reply) != 1:
        raise AnswerError(f"An answer must be an object with one key. Got {text!r:.80}.")
    ((key, value),) = reply.items()
    read = _READERS[question.kind].get(key)
    answer = None if read is None else read(value, n_clusters)
    if answer is None:
        raise AnswerError(f"An answer must have the required form. Got {text!r:.80}.")
    return answer


def shares_of_labels(reply: Reply, question: Question, n_clusters: int, row: Row) -> Row:
    """Replace a row that names one group by the probabilities of the labels, where known.

    The probability of "none" is missing from the sum of the row.
    """
    if question.kind != "group" or not (1.0 in row or not any(row)):
        return row
    known = labels(n_clusters)
    chosen, text = row.index(1.0) if any(row) else n_clusters, ""
    for token, alternatives in reply.logprobs:
        if '"group"' in text and _position(token, known) == chosen:
            probabilities = np.zeros(n_clusters + 1)  # the last is "none"
            for other, logprob in alternatives.items():
                position = _position(other, known)
                if position is not None:
                    probabilities[position] += math.exp(min(logprob, 0.0))
            total = float(probabilities.sum())
            return tuple((probabilities[:-1] / total).tolist()) if total >= _LEAST else row
        text += token
    return row


def _position(token: str, known: Sequence[str]) -> int | None:
    """The index of a label, after the last for "none" or its beginning; None for no label."""
    name = token.strip().strip('"')
    if name in known:
        return known.index(name)
    return len(known) if name and _NONE.startswith(name) else None


def _group(value: Any, n_clusters: int) -> Row | None:
    """Read one group, "none of these", or "cannot say"."""
    if value is None:
        return (math.nan,) * n_clusters
    if value == _NONE:
        return (0.0,) * n_clusters
    return _shares({value: 1.0} if isinstance(value, str) else None, n_clusters)


def _shares(value: Any, n_clusters: int) -> Row | None:
    """Read shares over groups."""
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
    """Read a number from 0 to 1; NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:  # type: ignore[operator]  # mypy sees no numbers ABC
        return None
    return float(value)


def _more_like(value: Any, _: int) -> float | None:
    """Read which of two items the first one is more like."""
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


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with two equal keys."""
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("duplicate key")
    return unique


def _refuse(word: str) -> Any:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(word)
