"""Stand-in until the branch on noise is merged."""

from typing import Any

import numpy as np


def repeated(plan: Any, times: int = 3, *, how: str = "mean") -> Any:
    """Ask every question several times and average."""
    from askmeans.queries import MembershipQueries

    queries = next(plan)
    try:
        while True:
            n = len(queries)
            many = MembershipQueries(
                np.tile(queries.items, times),
                np.tile(queries.clusters, times),
                repeat=np.repeat(np.arange(times), n),
            )
            each = (yield many).reshape(times, n)
            if how == "mean":
                one = each.mean(axis=0)
            else:
                one = np.median(
                    [part.mean(axis=0) for part in np.array_split(each, min(times, 24))], axis=0
                )
            queries = plan.send(one)
    except StopIteration as end:
        return end.value
