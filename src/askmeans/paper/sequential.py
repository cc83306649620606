"""Algorithm 4: one centre at a time, the largest first, from items outside earlier clusters."""

import numpy as np

from askmeans._util.arrays import Rows
from askmeans.exceptions import StopAsking
from askmeans.fuzzy.scores import Scorer
from askmeans.paper.plan import Asking, Plan
from askmeans.paper.sampling import CenterEstimate
from askmeans.paper.search import n_thresholds, search_cuts
from askmeans.paper.search_state import SearchState


def sequential(
    state: SearchState,
    *,
    sample_size: int,
    bin_size: int,
    coarse_precision: float,
    precision: float,
) -> Plan:
    """Algorithm 4: m is `sample_size`, r `bin_size`, eta_1 and eta_2 the two precisions."""
    n_clusters = state.n_clusters
    complete = False
    try:
        yield from state.sample_rows(sample_size, every_cluster=False)  # lines 1-2
        heaviest = largest({j: state.estimate_from_sample(j) for j in range(n_clusters)})  # line 3
        if heaviest is not None:
            processed = [heaviest[0]]
            state.estimates[heaviest[0]] = heaviest[1]  # line 4
            # In units of eta_1: bins are integers.
            explained = np.zeros(state.items.n, dtype=np.intp)
            for _ in range(n_clusters - 1):  # line 5
                explained += yield from coarse_levels(state, processed[-1], coarse_precision)
                top = n_thresholds(coarse_precision)
                np.minimum(explained, top, out=explained)  # a sum above 1 is in the top bin
                left = np.setdiff1d(np.arange(n_clusters), processed)
                estimates = yield from stratified_centers(state, explained, left, bin_size)
                heaviest = largest(estimates)  # lines 11-12
                if heaviest is None:
                    break
                processed.append(heaviest[0])
                state.estimates[heaviest[0]] = heaviest[1]
        yield from state.search(precision)  # lines 14-15
        complete = True
    except StopAsking:
        pass
    return state.finish(complete=complete)  # line 16


def coarse_levels(state: SearchState, cluster: int, precision: float) -> Asking[Rows]:
    """Line 6: memberships in the latest cluster, in integer multiples of eta_1.

    The other centres are not known yet, so the order is that of distance.
    """
    estimate = state.estimates[cluster]
    assert estimate is not None
    ranking = state.items.rank(Scorer(centers=estimate.center[None], order="distance"))
    cuts = yield from search_cuts(
        ranking, np.array([0]), np.array([cluster]), state.known, precision, "coarse search"
    )
    return ranking.levels(0, cuts[0])


def stratified_centers(
    state: SearchState, bins: Rows, clusters: Rows, bin_size: int
) -> Asking[dict[int, CenterEstimate | None]]:
    """Lines 7-12: ask a few items of every bin about all remaining clusters, and estimate these."""
    sizes, drawn = [], []
    for s in np.unique(bins):  # empty bins are skipped
        members = np.flatnonzero(bins == s)
        sizes.append(len(members))
        drawn.append(draw_from(members, bin_size, state.rng))
    yield from state.known.ask_rows(np.concatenate(drawn), clusters, "bins")
    strata = list(zip(sizes, drawn, strict=True))
    return {int(j): state.estimate(int(j), strata) for j in clusters}


def draw_from(members: Rows, size: int, rng: np.random.Generator) -> Rows:
    """Draw with replacement, or take all once if there are not more (paper note N15)."""
    if len(members) <= size:
        return members
    return members[rng.integers(len(members), size=size)]


def largest(estimates: dict[int, CenterEstimate | None]) -> tuple[int, CenterEstimate] | None:
    """The cluster with the largest estimated weight, the lowest number on ties."""
    known = [(j, e) for j, e in sorted(estimates.items()) if e is not None]
    return max(known, key=lambda pair: pair[1].weight, default=None)
