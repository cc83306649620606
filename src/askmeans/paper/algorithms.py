"""The paper's three strategies as plans: Algorithms 1, 4 and 5, with 6 and 7 inside.

Algorithms 2 and 3 are in search.py, 8 in sampling.py, 9 in jennrich.py. Paper notes N16 to N18 and
N30 correct the listings of 5 to 7: memberships in t2 are asked directly, the search stays below the
last bin, the strongest item is among the special ones, and no question is asked twice.
"""

import math
from dataclasses import dataclass

import numpy as np

from askmeans._util.arrays import Rows
from askmeans.exceptions import StopAsking
from askmeans.fuzzy.items import Ranking
from askmeans.fuzzy.scores import Scorer
from askmeans.paper.plan import Asking, Plan
from askmeans.paper.sampling import CenterEstimate
from askmeans.paper.search import ATTEMPTS, n_thresholds, search_cuts
from askmeans.paper.search_state import SearchState

# ---- Algorithm 1: all centres from one uniform sample --------------------------------------------


def two_phase(state: SearchState, *, sample_size: int, precision: float) -> Plan:
    """Algorithm 1, with Algorithms 2, 3 and 8 inside; m is `sample_size`, eta `precision`."""
    complete = False
    try:
        yield from state.sample_rows(sample_size, every_cluster=True)  # lines 1-2
        state.estimates = [state.estimate_from_sample(j) for j in range(state.n_clusters)]  # line 3
        yield from state.search(precision)  # lines 4-5
        complete = True
    except StopAsking:
        pass
    return state.finish(complete=complete)  # line 6


# ---- Algorithm 4: one centre at a time, the largest first, from items outside earlier clusters ---


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


# ---- Algorithms 5, 6 and 7: two clusters, the smaller from bins that halve its membership --------


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricBins:
    """The result of Algorithm 6, as item numbers.

    `bins` are X_q, within each of which the largest membership in t2 is at most twice the smallest;
    `special` is P_2, asked one by one; `rest` is P_1, with memberships of almost 0.
    """

    bins: list[Rows]
    special: Rows
    rest: Rows


def two_clusters(state: SearchState, *, sample_size: int, bin_size: int, precision: float) -> Plan:
    """Algorithm 5: m is `sample_size`, r `bin_size`, eta `precision`."""
    complete = False
    try:
        yield from state.sample_rows(sample_size, every_cluster=False)  # lines 1-2
        heaviest = largest({j: state.estimate_from_sample(j) for j in (0, 1)})  # line 3
        if heaviest is not None:
            t1, state.estimates[heaviest[0]] = heaviest  # line 4
            t2 = 1 - t1
            ranking = state.items.rank(Scorer(centers=heaviest[1].center[None], order="distance"))
            geometric = yield from geometric_bins(ranking, state, t2)  # line 5
            groups = [group for group in (*geometric.bins, geometric.rest) if len(group)]
            drawn = [draw_from(group, bin_size, state.rng) for group in groups]  # lines 6-7, 10
            strata = [(len(group), rows) for group, rows in zip(groups, drawn, strict=True)]
            strata.append((len(geometric.special), geometric.special))
            sampled = np.concatenate([rows for _, rows in strata])
            yield from state.known.ask(sampled, np.full(len(sampled), t2), "bins")  # lines 8, 11
            state.estimates[t2] = state.estimate(t2, strata)  # line 12
        yield from state.search(precision)  # lines 13-15
        complete = True
    except StopAsking:
        pass
    return state.finish(complete=complete)


def geometric_bins(ranking: Ranking, state: SearchState, t2: int) -> Asking[GeometricBins]:
    """Algorithm 6: rank 1 is nearest to the centre of t1; memberships in t2 grow with the rank."""
    n = state.items.n
    log_n = max(1, math.ceil(math.log2(n)))
    bins: list[Rows] = []
    special = [np.array([n])]  # the strongest item is in no bin: it is special (note N17)
    value = yield from _ask_rank(ranking, state, t2, n)  # lines 2-3
    eta = 1.0 if math.isnan(value) else value
    p = n
    for _ in range(2, 3 * log_n + 1):  # line 5
        if p == 1 or eta <= 0.0:  # no items are left, or only memberships of 0
            break
        start = yield from first_at_least(ranking, state, t2, eta / 2, p)  # lines 6-7
        if p - start >= log_n:  # lines 8-12
            bins.append(np.arange(start, p))
            p, eta = start, eta / 2
        else:  # lines 14-19
            start = max(1, p - 1 - log_n)
            ranks = np.arange(start, p)
            rows = ranking.select(np.zeros_like(ranks), ranks)
            values = yield from state.known.ask(rows, np.full(len(rows), t2), "geometric bins")
            special.append(ranks)
            answered = values[~np.isnan(values)]
            p, eta = start, float(answered[0]) if len(answered) else eta / 2
    rest = np.arange(1, p)  # lines 22-24

    def items_at(ranks: Rows) -> Rows:
        return ranking.select(np.zeros_like(ranks), ranks)

    return GeometricBins(
        bins=[items_at(ranks) for ranks in bins],
        special=items_at(np.concatenate(special)),
        rest=items_at(rest),
    )


def first_at_least(
    ranking: Ranking, state: SearchState, t2: int, threshold: float, end: int
) -> Asking[int]:
    """Algorithm 7: the first rank up to `end` whose membership in t2 is at least the threshold.

    Only below the last bin (note N18), starting from known answers.
    """
    low, high = 1, end
    if not state.known.faithful:
        values = state.known.values[:, t2]
        ranks = ranking.ranks(0, state.known.items)
        below = ranks[(values < threshold) & (ranks < end)]
        low = max(low, int(below.max(initial=0)) + 1)
        reached = ranks[(values >= threshold) & (ranks >= low)]
        high = min(high, int(reached.min(initial=end)))
    while low < high:  # line 2
        middle = (low + high) // 2  # line 3
        value = yield from _ask_rank(ranking, state, t2, middle)  # line 4
        for step in range(1, ATTEMPTS):
            if not math.isnan(value) or middle + step >= high:
                break
            middle += step
            value = yield from _ask_rank(ranking, state, t2, middle)
        if math.isnan(value):
            break  # without an answer the bin may start too late
        if value < threshold:  # line 5, with U_t2 < x (note N18)
            low = middle + 1
        else:
            high = middle
    return high


def _ask_rank(ranking: Ranking, state: SearchState, cluster: int, rank: int) -> Asking[float]:
    """The membership of the item at a rank."""
    row = ranking.select(np.array([0]), np.array([rank]))
    value = yield from state.known.ask(row, np.array([cluster]), "geometric bins")
    return float(value[0])
