"""An oracle of user-defined functions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import AnswerError, QueryError, StopAsking
from askmeans.queries import GroupQueries, MembershipQueries, Queries
from askmeans.queries.values import as_row


class CallbackOracle:
    """Calls a function for each question.

    Items are row numbers of the data of the fit. In cross-validation every fit has other rows; use
    ``ActiveFuzzyKMeans(oracle="y")`` there instead.

    Parameters
    ----------
    membership : callable or None, default=None
        ``membership(item, cluster)`` returns a number in [0, 1], or None for "cannot say".
    pair : callable or None, default=None
        ``pair(p, q)`` returns how similar two items are.
    triplet : callable or None, default=None
        ``triplet(p, q, r)`` returns how similar three items are.
    group : callable or None, default=None
        ``group(item)`` returns the number of its cluster, a mapping of clusters to shares, ``()``
        for none of these, or None for "cannot say".
    relative : callable or None, default=None
        ``relative(a, b, c)`` returns 1 if the first is more like the second, 0 if it is more like
        the third, and one half for a tie.

    Examples
    --------
    >>> from askmeans.queries import PairQueries
    >>> oracle = CallbackOracle(pair=lambda p, q: 1.0 if p % 2 == q % 2 else None)
    >>> oracle.answer(PairQueries([[0, 2], [0, 1]]))
    array([ 1., nan])
    """

    def __init__(
        self,
        *,
        membership: Callable[[int, int], float | None] | None = None,
        pair: Callable[[int, int], float | None] | None = None,
        triplet: Callable[[int, int, int], float | None] | None = None,
        group: Callable[[int], Any] | None = None,
        relative: Callable[[int, int, int], float | None] | None = None,
    ) -> None:
        self.membership = membership
        self.pair = pair
        self.triplet = triplet
        self.group = group
        self.relative = relative

    def __repr__(self) -> str:
        every = ("membership", "pair", "triplet", "group", "relative")
        kinds = [kind for kind in every if getattr(self, kind)]
        return f"CallbackOracle({', '.join(kinds)})"

    def answer(self, queries: Queries) -> NDArray[np.float64]:
        """Answers of the functions; if one fails, StopAsking has the answers so far."""
        function: Callable[..., Any] | None = getattr(self, queries.kind)
        if function is None:
            raise QueryError(
                f"CallbackOracle needs a function for {queries.kind} questions. "
                f"Got none; pass {queries.kind}=..."
            )
        answers = np.full(queries.shape, np.nan)
        arguments = queries.item_table
        if isinstance(queries, MembershipQueries):
            arguments = np.column_stack([queries.items, queries.clusters])
        for row, call in enumerate(arguments.tolist()):
            try:
                answer = _as_answer(function(*call), queries, call)
            except (KeyboardInterrupt, StopAsking):
                raise StopAsking(answers, np.arange(len(queries)) < row) from None
            except Exception as error:  # keeps the answers so far
                raise StopAsking(answers, np.arange(len(queries)) < row) from error
            answers[row] = answer
        return answers


def _as_answer(value: Any, queries: Queries, arguments: list[int]) -> float | tuple[float, ...]:
    """Convert the value of a function to a number in [0, 1] or NaN, or to a row of them."""
    if isinstance(queries, GroupQueries):
        return as_row(value, queries.n_clusters)
    answer = np.nan if value is None else float(value)
    if answer < 0.0 or answer > 1.0:
        raise AnswerError(
            f"An answer must lie in [0, 1], or be None for 'cannot say'. Got {answer} "
            f"from the {queries.kind} function for {arguments}."
        )
    return answer
