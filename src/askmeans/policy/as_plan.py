"""A policy as a plan: for the driver, and for wrappers that translate a plan's questions."""

from askmeans.exceptions import AskmeansError, StopAsking
from askmeans.paper.plan import Plan
from askmeans.policy import Policy
from askmeans.queries import Ledger, batches_of


def as_plan(policy: Policy, ledger: Ledger | None = None) -> Plan:
    """Ask what the policy proposes until it is settled, then return its clustering.

    A driver that records the answers (and their annotators) passes its own ledger.
    """
    ledger = Ledger() if ledger is None else ledger
    policy.learn(ledger.history)
    try:
        while not policy.settled and failure_of(policy) is None:
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


def failure_of(policy: Policy) -> AskmeansError | None:
    """The error that ends a run, of policies that have one: those that ask for similarities."""
    return getattr(policy, "failure", None)
