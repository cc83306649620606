"""Algorithm 1: all centres from one uniform sample, then a search for every membership."""

import numpy as np

from askmeans.exceptions import StopAsking
from askmeans.items import Items
from askmeans.plans.answers import EXACT, Plan, Roughness
from askmeans.plans.draft import Draft
from askmeans.scores import Order

__all__ = ["two_phase"]


def two_phase(
    items: Items,
    n_clusters: int,
    *,
    fuzzifier: float,
    sample_size: int,
    precision: float,
    order: Order,
    faithful: bool,
    rng: np.random.Generator,
    roughness: Roughness = EXACT,
) -> Plan:
    """Algorithm 1, with Algorithms 2, 3 and 8 inside."""
    draft = Draft(
        items, n_clusters, fuzzifier=fuzzifier, order=order, faithful=faithful, rng=rng,
        roughness=roughness,
    )  # fmt: skip
    complete = False
    try:
        yield from draft.sample_rows(sample_size, every_cluster=True)  # lines 1-2
        draft.estimates = [draft.sampled(j) for j in range(n_clusters)]  # line 3
        yield from draft.search(precision)  # lines 4-5
        complete = True
    except StopAsking:
        pass
    return draft.finish(complete=complete)  # line 6
