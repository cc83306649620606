"""The smallest plan by similarities, and what tests look at in its result."""

import numpy as np
from numpy.testing import assert_allclose

from askmeans import FuzzyKMeans, run
from askmeans.exceptions import StopAsking
from askmeans.metrics import membership_error
from askmeans.oracles import TableOracle
from askmeans.paper import by_similarity
from askmeans.queries import MembershipQueries
from askmeans.results import Clustering


def whole_rows(batches, n, k):
    """The smallest plan: the rows of some items, batch after batch; NaN for what is not told."""
    memberships, complete = np.full((n, k), np.nan), True
    for items in batches:
        try:
            answers = yield MembershipQueries(
                np.repeat(items, k), np.tile(np.arange(k), len(items))
            )
        except StopAsking as stop:
            answers, complete = stop.answers, False
        memberships[items] = answers.reshape(-1, k)
        if not complete:
            break
    return Clustering(
        centers=np.zeros((k, 1)), memberships=memberships, predictor=None, complete=complete
    )


def rows(U, *, oracle=None, seed=0, k=None, batches=None, ledger=None, limit=None, **options):
    """Ask for the rows of all items, or of those in the batches."""
    n, k = len(U), k or U.shape[1]
    batches = [np.arange(n)] if batches is None else batches
    rng = np.random.default_rng(seed)
    plan = by_similarity(whole_rows(batches, n, k), n, k, rng=rng, **options)
    return run(plan, oracle or TableOracle(U), ledger=ledger, budget=limit)


def error(result, U):
    return membership_error(U, result.clustering.memberships)


def account(result):
    return result.clustering.diagnostics.similarity


def kinds(result):
    """How many questions of each kind."""
    asked = [answer.kind for answer in result.history]
    return {kind: asked.count(kind) for kind in sorted(set(asked))}


def dirichlet(k, seed, n=80):
    return np.random.default_rng(1000 + seed).dirichlet(np.ones(k), size=n)


def fuzzy(X, k):
    return FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X).memberships_


def check_simplex(memberships):
    assert memberships.min() >= 0.0
    assert memberships.max() <= 1.0
    assert_allclose(memberships.sum(axis=1), 1.0, atol=1e-9)
