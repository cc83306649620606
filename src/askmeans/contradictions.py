"""Answers that cannot all be true: which, and whose."""

import numpy as np
from numpy.typing import NDArray

from askmeans.queries import MembershipQueries, Queries

__all__ = ["expected_answers"]

Floats = NDArray[np.float64]


def expected_answers(queries: Queries, memberships: Floats) -> Floats:
    """What somebody would answer who has these memberships in mind (Definitions 2 and 3)."""
    if isinstance(queries, MembershipQueries):
        return memberships[queries.items, queries.clusters]
    together: Floats = memberships[queries.item_table].prod(axis=1).sum(axis=1)
    return together
