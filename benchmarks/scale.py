"""Whole fits beside scikit-learn's KMeans and the fuzzy peers, iterations, growth, disk and Dask.

    python benchmarks/scale.py [totals] [powers] [groups] [growth] [disk] [dask] [--rows N]

Ratios within one run; methods take turns and the best of several rounds counts. Both k-means and we
stop when the centres move by less than 1e-4 of the data's spread (the root of the features' mean
variance): scikit-learn squares that, so its tol is 1e-8. Peers stop by other rules, so they are
charged their time per iteration times the iterations that plain Lloyd needs to this one, from
k-means++ seeds. (From their own, random memberships, all centres lie in the middle: they may stop
there at once, or need several times as many.)
`powers` is CPU time on one thread, `totals` that and wall-clock time on every core, the rest
wall-clock time.
"""

import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.datasets import load_digits, make_blobs
from threadpoolctl import threadpool_limits

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, Stratified, oracles
from askmeans.fuzzy import closed_form_memberships

Floats = NDArray[np.floating]
Clock = Callable[[], float]

TOL = 1e-4
ROUNDS = 5
MIB = 2**20
PARTS = 8  # of a Dask array; Dask's own advice is about 100 MB each


def data_sets() -> dict[str, tuple[Floats, int]]:
    """Eight: blobs, digits, overlapping, high-dimensional, without structure; k from 3 to 64."""

    def blobs(n: int, d: int, k: int, std: float) -> tuple[Floats, int]:
        return make_blobs(n, d, centers=k, cluster_std=std, random_state=k)[0], k

    return {
        "blobs, 3 clusters": blobs(200_000, 10, 3, 1.0),
        "blobs, 16 clusters": blobs(100_000, 16, 16, 1.0),
        "blobs, 64 clusters": blobs(100_000, 8, 64, 1.0),
        "digits": (load_digits().data, 10),
        "overlapping, 4 clusters": blobs(200_000, 5, 4, 4.0),
        "overlapping, 6 clusters": blobs(100_000, 3, 6, 3.0),
        "200 features": blobs(20_000, 200, 5, 4.0),
        "no structure": (np.random.default_rng(0).random((200_000, 4)), 8),
    }


def best(
    function: Callable[[], object],
    clock: Callable[[], float] = time.perf_counter,
    rounds: int = ROUNDS,
) -> float:
    """Seconds of the quickest of several runs."""
    found = np.inf
    for _ in range(rounds):
        began = clock()
        function()
        found = min(found, clock() - began)
    return float(found)


def in_turns(
    functions: dict[str, Callable[[], object]], clock: Clock, rounds: int
) -> dict[str, float]:
    """Seconds of the quickest run of each; they take turns, so that all see the same load."""
    found = dict.fromkeys(functions, np.inf)
    for _ in range(rounds):
        for name, function in functions.items():
            found[name] = min(found[name], best(function, clock, 1))
    return found


def totals() -> None:
    """Whole fits, seeding and memberships included; on one thread, and as users wait for them."""
    with threadpool_limits(1):
        print("Whole fits, CPU time on one thread, fuzzifier 2; iterations in brackets.")
        whole_fits(time.process_time)
    print("The same by the clock on the wall, with every core.")
    whole_fits(time.perf_counter)


def whole_fits(clock: Clock) -> None:
    """A table of whole fits by a clock, and its medians."""
    print("| data | items | features | clusters | KMeans | askmeans | peers | x KMeans "
          "| x faster than fuzzy-c-means | than scikit-fuzzy |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    ratios, peers = [], []
    for name, (X, k) in data_sets().items():
        hard = KMeans(k, n_init=1, tol=TOL**2, algorithm="lloyd", random_state=0, max_iter=2000)
        ours = FuzzyKMeans(k, tol=TOL, random_state=0, max_iter=2000)
        seeds = kmeans_plusplus(X, k, random_state=0)[0]
        plain = FuzzyKMeans(k, tol=TOL, init=seeds, max_iter=2000, algorithm="lloyd").fit(X)
        fits = {"KMeans": partial(hard.fit, X), "ours": partial(ours.fit, X)}
        t = in_turns(fits | peer_fits(X, closed_form_memberships(X, seeds, 2.0)), clock, ROUNDS)
        fcm, skf = (
            max(t[f"{peer}, 6"] - t[f"{peer}, 2"], 0.0) / 4.0 * plain.n_iter_
            for peer in ("fcm", "skf")
        )
        ratios.append(t["ours"] / t["KMeans"])
        peers.append((fcm / t["ours"], skf / t["ours"]))
        print(f"| {name} | {len(X):,} | {X.shape[1]} | {k} | 1 ({hard.n_iter_}) "
              f"| ({ours.n_iter_}) | ({plain.n_iter_}) | {ratios[-1]:.2f} "
              f"| {peers[-1][0]:.0f} | {peers[-1][1]:.0f} |", flush=True)  # fmt: skip
    fcm, skf = np.median(peers, axis=0)
    print(f"Median: {np.median(ratios):.2f} x KMeans in total; {fcm:.1f} x faster than "
          f"fuzzy-c-means, {skf:.1f} x than scikit-fuzzy.\n")  # fmt: skip


def peer_fits(X: Floats, U: Floats) -> dict[str, Callable[[], object]]:
    """Two and six iterations of fuzzy-c-means and of scikit-fuzzy from these memberships."""
    from fcmeans import FCM
    from skfuzzy.cluster import cmeans

    k = U.shape[1]

    class SameStart(FCM):  # type: ignore[misc]  # the peer ships no types
        def _init_u(self, X: Floats) -> None:  # noqa: ARG002 - the peer's signature
            self.u = U

    def fcm(n_iter: int) -> object:
        return SameStart(n_clusters=k, m=2.0, max_iter=n_iter, error=1e-9).fit(X)

    def skf(n_iter: int) -> object:
        return cmeans(X.T, k, 2.0, error=0.0, maxiter=n_iter, init=U.T.copy())

    return {f"{name}, {n}": partial(fit, n)
            for name, fit in (("fcm", fcm), ("skf", skf)) for n in (2, 6)}  # fmt: skip


def beside_k_means(X: Floats, k: int, fuzzifiers: Sequence[float]) -> list[float]:
    """An iteration at each fuzzifier, as a multiple of KMeans', CPU time on one thread."""
    start, few, many = X[:k].copy(), 3, 13

    def hard(n: int) -> object:
        return KMeans(k, init=start, n_init=1, max_iter=n, tol=0, algorithm="lloyd").fit(X)

    fits: list[Callable[[int], object]] = [hard]
    for fuzzifier in fuzzifiers:
        model = FuzzyKMeans(k, fuzzifier=fuzzifier, init=start, tol=0, algorithm="lloyd")
        fits.append(partial(fitted, model, X))
    runs: dict[str, Callable[[], object]] = {
        f"{place}, {n}": partial(fit, n) for place, fit in enumerate(fits) for n in (few, many)
    }
    with threadpool_limits(1):
        t = in_turns(runs, time.process_time, ROUNDS)
    one, *ours = (t[f"{place}, {many}"] - t[f"{place}, {few}"] for place in range(len(fits)))
    return [seconds / one for seconds in ours]


def powers() -> None:
    """An iteration at several fuzzifiers, with few and many features and clusters."""
    fuzzifiers = (2.0, 1.5, 1.2, 1.7, 2.3)
    print("An iteration, as a multiple of KMeans', CPU time on one thread; the largest of the "
          "general fuzzifiers 1.2, 1.7 and 2.3 as a multiple of 2.")  # fmt: skip
    print("| items | features | clusters | " + " | ".join(map(str, fuzzifiers)) + " | general |")
    print("|---" * (len(fuzzifiers) + 4) + "|")
    for n, d, k in ((100_000, 16, 8), (200_000, 10, 4), (100_000, 8, 64), (100_000, 64, 100),
                    (20_000, 256, 77)):  # fmt: skip
        ratios = beside_k_means(np.random.default_rng(0).random((n, d)), k, fuzzifiers)
        print(f"| {n:,} | {d} | {k} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios)
              + f" | {max(ratios[2:]) / ratios[0]:.2f} |", flush=True)  # fmt: skip
    print()


def groups() -> None:
    """Many groups: an unsupervised fit and the first ranking."""
    print("Many groups, 256 features of length 1: an unsupervised fit and the first ranking.")
    for n, k in ((3_080, 77), (2_250, 150)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(k, 256))[np.arange(n) % k] + 1.5 * rng.normal(size=(n, 256))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        seconds = [best(partial(first_question, X, k), clock, 2)
                   for clock in (time.perf_counter, time.process_time)]  # fmt: skip
        print(f"{n:,} items, {k} groups: {seconds[0]:.2f} s, {seconds[1]:.2f} s of CPU time",
              flush=True)  # fmt: skip
    print()


def first_question(X: Floats, k: int) -> object:
    """The first question of the default policy."""
    policy = Stratified().policy(X, k, fuzzifier=2.0, rng=np.random.default_rng(0), ask="group")
    return policy.propose(1, set())


def growth(sizes: tuple[int, int] = (1_000_000, 10_000_000)) -> None:
    """Time per row at ten times the rows."""
    print(f"Time per row at {sizes[1]:,} rows, as a multiple of that at {sizes[0]:,}; 10 features, "
          "4 clusters, float32.")  # fmt: skip
    per_row: dict[str, list[float]] = {}
    for n in (200_000, *sizes):  # the first compiles, and is not counted
        X, y = rows(n)
        expert = oracles.CallbackOracle(
            group=partial(known_group, y), membership=partial(known_membership, y)
        )
        # A given number of iterations: how many a fit needs does not hang on the rows.
        models: dict[str, FuzzyKMeans | ActiveFuzzyKMeans] = {
            "FuzzyKMeans, five iterations": FuzzyKMeans(4, random_state=0, max_iter=5, tol=0),
            "the default policy, 24 questions": ActiveFuzzyKMeans(
                4, oracle=expert, ask="group", budget=24, random_state=0
            ),
            "two-phase": ActiveFuzzyKMeans(4, oracle=expert, strategy="two-phase", random_state=0),
        }
        for name, model in models.items():
            per_row.setdefault(name, []).append(best(partial(model.fit, X), rounds=2) / n)
    for name, (_, small, large) in per_row.items():
        print(f"{name}: {large / small:.2f} ({1e6 * large:.2f} microseconds a row)", flush=True)
    print()


def fitted(model: FuzzyKMeans, X: object, n_iter: int) -> object:
    """The model, fitted with so many iterations."""
    return model.set_params(max_iter=n_iter).fit(X)


def known_group(y: NDArray[np.int8], item: int) -> int:
    """Who knows every item's cluster."""
    return int(y[item])


def known_membership(y: NDArray[np.int8], item: int, cluster: int) -> float:
    """The same, asked for a membership."""
    return float(y[item] == cluster)


def rows(n: int) -> tuple[Floats, NDArray[np.int8]]:
    """So many items about four centres, and which."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=n, dtype=np.int8)
    X = rng.standard_normal((n, 10), dtype=np.float32)
    X[np.arange(n), y] += np.float32(4.0)
    return X, y


def iteration_seconds(
    fit: Callable[[int], object],
    rounds: int = 2,
    clock: Callable[[], float] = time.perf_counter,
    counts: tuple[int, int] = (2, 22),
) -> float:
    """Seconds of an iteration: many iterations less few, in turns, the best of some rounds."""
    found = dict.fromkeys(counts, np.inf)
    for _ in range(rounds):
        for n in counts:
            found[n] = min(found[n], best(partial(fit, n), clock, 1))
    few, many = counts
    return float(found[many] - found[few]) / (many - few)


def start_of(X: Floats) -> Floats:
    """A start from which iterations go on for long: centres in the middle."""
    start: Floats = np.asarray(X[:1000], dtype=np.float64).mean(axis=0) + 0.1 * np.eye(4, 10)
    return start


def disk(n: int) -> None:
    """A file of so many rows on disk, beside rows in memory and beside reading the file."""
    print(f"Out of core: {n:,} x 10 float32 on disk ({n * 40 / 1e9:.1f} GB), 4 clusters.")
    in_memory = min(n, 10_000_000)
    X, _ = rows(in_memory)
    start = start_of(X)

    def fit(data: object) -> Callable[[int], object]:
        model = FuzzyKMeans(4, init=start, tol=0, memory="1GiB", algorithm="lloyd")
        return partial(fitted, model, data)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        out = np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(n, 10))
        for begin in range(0, n, in_memory):
            out[begin : begin + in_memory] = X[: min(in_memory, n - begin)]
        out.flush()
        del out
        here = iteration_seconds(fit(X)) / in_memory
        del X
        reading = best(lambda: read_through(path)) / n
        with AnonymousPeak() as peak:
            there = iteration_seconds(fit(path), rounds=1, counts=(2, 8)) / n
            model = FuzzyKMeans(4, random_state=0, memory="1GiB").fit(path)
        print(f"an iteration, per row: {there / here:.2f} x in memory ({in_memory:,} rows), "
              f"{there / reading:.2f} x reading the file")  # fmt: skip
        print(f"a whole fit: {model.n_iter_} iterations over all rows; anonymous memory above the "
              f"start, at its peak: {peak.mib:.0f} MiB\n", flush=True)  # fmt: skip


def read_through(path: Path) -> int:
    """Read a file from its beginning to its end."""
    buffer, count = bytearray(16 * MIB), 0
    with path.open("rb", buffering=0) as file:
        while got := file.readinto(buffer):
            count += got
    return count


class AnonymousPeak:
    """The most anonymous memory of this process while it is open, above what it began with."""

    def __enter__(self) -> "AnonymousPeak":
        self._begin = self._now()
        self._most, self._going = self._begin, True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._going = False
        self._thread.join()
        self.mib = (self._most - self._begin) / 1024

    def _watch(self) -> None:
        while self._going:
            self._most = max(self._most, self._now())
            time.sleep(0.02)

    @staticmethod
    def _now() -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def dask_cluster(n: int) -> None:
    """Two workers on this machine beside two threads; and one of them killed."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    from askmeans._util.progress import reporting_progress

    print(f"Dask, LocalCluster of two processes, {n:,} x 10 float32, 4 clusters.")
    X, _ = rows(n)
    start = start_of(X)
    model = FuzzyKMeans(4, init=start, tol=0, algorithm="lloyd")

    array = partial(fitted, model, X)
    here, here_cpu = iteration_seconds(array), iteration_seconds(array, 1, time.process_time)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            memory_limit="2GiB",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        np.save(f"{folder}/X.npy", X)
        del X, array
        D = da.map_blocks(part_of, f"{folder}/X.npy", chunks=(chunks(n, PARTS), (10,)),
                          dtype=np.float32, meta=np.empty((0, 0), np.float32),
                          n_parts=PARTS).persist()  # fmt: skip
        wait(D)

        def cpu() -> float:
            return time.process_time() + float(sum(client.run(time.process_time).values()))

        blocks = partial(fitted, model, D)
        there, there_cpu = iteration_seconds(blocks), iteration_seconds(blocks, 1, cpu)
        print(f"an iteration: {there / here:.2f} x that of the array on two threads; CPU time of "
              f"all processes: {there_cpu / here_cpu:.2f} x", flush=True)  # fmt: skip
        try:
            from dask_ml.cluster import KMeans as DaskKMeans  # type: ignore[import-not-found]  # a peer

            def theirs(n_iter: int) -> object:
                rival = DaskKMeans(4, init=start.astype(np.float32), max_iter=n_iter, tol=0.0)
                return rival.fit(D)

            rival = iteration_seconds(theirs, rounds=1)
            print(f"dask-ml's KMeans (hard): {rival / there:.1f} x ours an iteration", flush=True)
        except Exception as error:
            print(f"dask-ml's KMeans did not run here: {error!r:.200}")
        pids, calls = list(client.run(os.getpid).values()), []

        def kill(_: float) -> None:
            calls.append(1)
            if len(calls) == 3 * PARTS:  # in the middle
                os.kill(pids[0], signal.SIGKILL)

        expected = model.set_params(max_iter=5).fit(D).cluster_centers_
        with reporting_progress(kill):
            found = model.set_params(max_iter=5).fit(D).cluster_centers_
        away = np.abs(found - expected).max()
        print(f"a worker killed in the middle: the same centres to {away:.0e}\n", flush=True)


def chunks(n: int, count: int) -> tuple[int, ...]:
    """Sizes of so many parts."""
    return tuple(np.diff([n * part // count for part in range(count + 1)]).tolist())


def part_of(path: str, n_parts: int = 1, block_info: dict | None = None) -> Floats:  # type: ignore[type-arg]  # Dask's own
    """A worker's part of a file; computed again where a worker is lost."""
    X = np.load(path, mmap_mode="r")
    part = block_info[None]["chunk-location"][0] if block_info else 0
    return np.array(X[len(X) * part // n_parts : len(X) * (part + 1) // n_parts])


def main() -> None:
    """Run the parts that are named, or all."""
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    n = int(words[words.index("--rows") + 1]) if "--rows" in words else 100_000_000
    parts: dict[str, Callable[[], None]] = {
        "totals": totals,
        "powers": powers,
        "groups": groups,
        "growth": growth,
        "disk": partial(disk, n),
        "dask": partial(dask_cluster, min(n, 10_000_000)),
    }
    for name in [word for word in words if word in parts] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
