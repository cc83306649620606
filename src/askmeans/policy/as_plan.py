"""A policy as a plan: for wrappers that translate a plan's questions into others."""

from askmeans.exceptions import StopAsking
from askmeans.paper.plan import Plan
from askmeans.policy import Policy
from askmeans.queries import Ledger, batches_of

__all__ = ["as_plan"]


def as_plan(policy: Policy) -> Plan:
    """Ask what the policy proposes until it is settled, then return its clustering."""
    ledger = Ledger()
    try:
        while not policy.settled:
            proposed = policy.propose(policy.batch_size)
            for queries in batches_of(proposed, policy.n_clusters):
                try:
                    ledger.record(queries, (yield queries))
                except StopAsking as stop:
                    ledger.record(queries.take(stop.reached), stop.answers[stop.reached])
                    raise
            policy.learn(ledger.history)
    except StopAsking:
        policy.learn(ledger.history)
    return policy.clustering()
