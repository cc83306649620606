"""The two-phase plan on a million items, beside sorting all of them for every cluster."""

import time
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askmeans import FuzzyKMeans, TwoPhase, oracles, run
from askmeans.fuzzy import lloyd
from askmeans.queries import Ledger, PairQueries
from askmeans.results import Result
from memory_peak import MIB, peak_above

N, D, K = 1_000_000, 10, 4
ROUNDS = 5


def best_time(work: Callable[[], object]) -> float:
    """Seconds of the quickest of several rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def sort_once(X: NDArray[np.float64], centers: NDArray[np.float64]) -> None:
    """One pass for distances, one stable argsort for each cluster."""
    for column in lloyd.distances(X, centers).T:
        np.argsort(column, kind="stable")


def main() -> None:
    """Print the ratio of times, the peak of memory, and the ledger's speed."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    truth = 2.0 * rng.normal(size=(K, D))
    X = truth[rng.integers(K, size=N)] + rng.normal(size=(N, D))
    target = FuzzyKMeans(K, fuzzifier=1.5, init=truth).fit(X)
    oracle = oracles.TableOracle(target.memberships_)

    def two_phase() -> Result:
        plan = TwoPhase().plan(X, K, fuzzifier=1.5, rng=np.random.default_rng(0))
        return run(plan, oracle)

    result = two_phase()
    mine = best_time(two_phase)
    floor = best_time(lambda: sort_once(X, target.cluster_centers_))
    print(f"two-phase, {N:,} x {D}, {K} clusters: {result.n_queries} questions")
    print(f"time: {mine / floor:.2f} x one argsort per cluster plus one distance pass")
    unit = N * K * 8 / MIB
    peak = peak_above(two_phase) / unit
    print(f"memory above the data: {peak:.2f} arrays of items x clusters ({unit:.0f} MiB each)")

    pairs = rng.integers(0, 10**6, size=(10**6, 2))
    batch = PairQueries(pairs[pairs[:, 0] != pairs[:, 1]])
    answers = rng.random(len(batch))

    def ledger() -> None:
        book = Ledger()
        new = book.unanswered(batch)
        book.record(new, answers[: len(new)])
        book.answers(batch)

    floor = best_time(lambda: dict(zip(map(tuple, batch.pairs.tolist()), answers, strict=True)))
    ratio = best_time(ledger) / floor
    print(f"ledger, a million pairs asked, kept, looked up: {ratio:.2f} x putting them into a dict")


if __name__ == "__main__":
    main()
