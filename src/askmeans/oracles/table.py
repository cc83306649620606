"""An oracle that knows all memberships."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from askmeans._util.arrays import Floats
from askmeans.exceptions import DataError, QueryError
from askmeans.fuzzy.model import as_memberships
from askmeans.queries import GroupQueries, MembershipQueries, Queries
from askmeans.queries.questions import expected_answers


class TableOracle:
    """Answers every kind of question from a matrix of memberships (Definitions 2 and 3).

    Parameters
    ----------
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1]; rows sum to one.

    Examples
    --------
    >>> from askmeans.queries import MembershipQueries, PairQueries
    >>> oracle = TableOracle([[1.0, 0.0], [0.5, 0.5]])
    >>> oracle.answer(MembershipQueries([1], [0])), oracle.answer(PairQueries([[0, 1]]))
    (array([0.5]), array([0.5]))
    """

    def __init__(self, memberships: ArrayLike) -> None:
        self.memberships = as_memberships(memberships)
        sums = self.memberships.sum(axis=1)
        wrong = int(np.abs(sums - 1.0).argmax())
        if abs(sums[wrong] - 1.0) > 1e-3:
            raise DataError(
                f"memberships must have rows that sum to one. Got {sums[wrong]:g} in row {wrong} "
                "instead; divide each row by its sum."
            )

    def __repr__(self) -> str:
        n_items, n_clusters = self.memberships.shape
        return f"TableOracle({n_items} items, {n_clusters} clusters)"

    @classmethod
    def from_labels(cls, y: ArrayLike) -> Self:
        """An oracle that knows the class of each item.

        Parameters
        ----------
        y : array-like of shape (n_items,)
            Labels, numbers or words; classes are numbered in sorted order.

        Returns
        -------
        TableOracle
            With memberships of 0 and 1.

        Examples
        --------
        >>> TableOracle.from_labels(["b", "a"]).memberships
        array([[0., 1.],
               [1., 0.]])
        """
        labels = np.asarray(y)
        if labels.ndim != 1 or labels.size == 0:
            raise DataError(
                f"y must be one-dimensional and not empty. Got shape {labels.shape} instead."
            )
        try:
            classes, numbers = np.unique(labels, return_inverse=True)
        except TypeError as error:  # mixed types, such as str and None, have no order
            raise DataError(f"y must hold numbers only, or words only. Got {error}.") from error
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            raise DataError("y must have a label for every item. Got NaN; drop such items first.")
        return cls(np.eye(len(classes))[numbers])

    def answer(self, queries: Queries) -> Floats:
        """Memberships, or sums over clusters of products of memberships.

        To relative questions 1, 0, or one half for a tie. To group questions about fewer clusters
        than it knows the first ones; the rest of a row is in none of these.
        """
        n_items, n_clusters = self.memberships.shape
        queries.check_items(n_items)
        last = queries.clusters.max(initial=0) if isinstance(queries, MembershipQueries) else 0
        if last >= n_clusters:
            raise QueryError(
                f"A question must be about clusters 0 to {n_clusters - 1}. Got cluster {last}."
            )
        if isinstance(queries, GroupQueries) and queries.n_clusters > n_clusters:
            raise QueryError(
                f"A group question must be about {n_clusters} clusters at most. "
                f"Got {queries.n_clusters}."
            )
        return expected_answers(queries, self.memberships)
