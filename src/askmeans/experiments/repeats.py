"""Every question of a plan asked several times, as Theorem 10 has it; never stopped half-way."""

import numpy as np

from askmeans.plans.answers import Plan
from askmeans.queries import MembershipQueries
from askmeans.results import Clustering

__all__ = ["BATCHES", "repeated"]

BATCHES = 24  # of which the median is taken


def repeated(plan: Plan, times: int, *, median: bool) -> Plan:
    """Let a plan's membership questions be asked so often; it gets means, or medians of means."""
    try:
        queries = next(plan)
        while True:
            assert isinstance(queries, MembershipQueries)
            n = len(queries)
            answers = yield MembershipQueries(
                np.tile(queries.items, times),
                np.tile(queries.clusters, times),
                repeat=np.repeat(np.arange(times), n),
            )
            batches = np.array_split(
                answers.reshape(times, n), min(times, BATCHES) if median else 1
            )
            means = [batch.mean(axis=0) for batch in batches]
            queries = plan.send(np.median(means, axis=0))
    except StopIteration as end:
        found: Clustering = end.value
        return found
