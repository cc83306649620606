"""Algorithm 1: all centres from one uniform sample, then a search for every membership."""

from askmeans.exceptions import StopAsking
from askmeans.paper.plan import Plan
from askmeans.paper.search_state import SearchState


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
