"""Record what the paper's strategies ask and return, and compare a later version with it.

    python tools/golden.py record FILE    # before a change
    python tools/golden.py compare FILE   # after it: exit status 1 where anything differs

Every case keeps a digest of each batch of questions, in order and as the plan asks it (kind, items,
clusters, repeats), and the centres and memberships, which must agree to 1e-9. The file belongs to
one machine: kernels round otherwise on other processors. Data and targets are made here, so that no
change of the library changes them.
"""

import argparse
import hashlib
import sys
import warnings
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans import Sequential, TwoClusters, TwoPhase, run
from askmeans.oracles import NoisyOracle, TableOracle

Floats = NDArray[np.float64]

SEEDS = 20
STOPPED = 5  # seeds that are also run with half of the budget
CLOSE = 1e-9
ROUTES = ("triplet", "pairwise", "jennrich")
WAYS: dict[str, dict[str, Any]] = {
    "relative": {"order": "relative"},
    "distance": {"order": "distance"},
    "faithful": {"order": "distance", "faithful": True},
    "faithful-relative": {"order": "relative", "faithful": True},  # faithful is by distance anyway
}
STRATEGIES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "two-phase": (partial(TwoPhase, sample_size=25), (2, 3, 4)),
    "sequential": (partial(Sequential, sample_size=20, bin_size=4), (2, 3, 4)),
    "two-clusters": (partial(TwoClusters, sample_size=15, bin_size=4), (2,)),
}


def wrappers() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Algorithm 9 and Theorem 10: the only imports that are expected to move."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from askmeans.paper import by_similarity
    from experiments.theorem_10 import repeated_solver

    return by_similarity, repeated_solver


def batch_digest(queries: Any) -> int:
    """A number for a batch: its kind, items, clusters and repeats, in their order."""
    digest = hashlib.sha256(queries.kind.encode())
    clusters = getattr(queries, "clusters", np.empty(0))
    for table in (queries.item_table, clusters, queries.repeat):
        array = np.ascontiguousarray(table, dtype=np.int64)
        digest.update(repr(array.shape).encode() + array.tobytes())
    return int.from_bytes(digest.digest()[:8], "little")


# ---- data ---------------------------------------------------------------------------------------


def task(seed: int, k: int) -> tuple[Floats, Floats]:
    """Items, and the target memberships."""
    rng = np.random.default_rng([seed, k])
    n = int(rng.integers(60, 201))
    centers = rng.normal(scale=2.5, size=(k, 4))  # four features, clusters that overlap, as in Iris
    X = centers[rng.integers(k, size=n)] + rng.normal(size=(n, 4))
    if seed % 2 == 0:
        return X, fuzzy_optimum(X, centers)
    U = rng.dirichlet(np.full(k, 0.4), size=n)
    pure = rng.choice(n, size=4 * k, replace=False)  # which pairs alone need
    U[pure] = np.eye(k)[np.arange(4 * k) % k]
    return X, U


def fuzzy_optimum(X: Floats, centers: Floats) -> Floats:
    """Fuzzy k-means with fuzzifier 2 from these centres, in plain numpy."""
    for _ in range(60):
        inverse = 1.0 / np.square(X[:, None] - centers).sum(axis=2)
        U: Floats = inverse / inverse.sum(axis=1, keepdims=True)
        centers = (U**2).T @ X / (U**2).sum(axis=0)[:, None]
    return U


# ---- cases --------------------------------------------------------------------------------------


def cases() -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
    """Every case by name, with its questions and results."""
    by_similarity, repeated_solver = wrappers()
    for seed in range(SEEDS):
        for name, (strategy, ks) in STRATEGIES.items():
            k = ks[seed % len(ks)]
            X, U = task(seed, k)
            for way, options in WAYS.items():
                plan = partial(strategy(**options).plan, X, k, fuzzifier=2.0)

                def similar(route: str, rng: np.random.Generator, plan: Any = plan) -> Any:
                    return by_similarity(plan(rng=rng), len(X), k, rng=rng, route=route)  # noqa: B023  # called in this turn

                makers = {"membership": lambda rng, plan=plan: plan(rng=rng)}
                makers |= {route: partial(similar, route) for route in ROUTES}
                for ask, make in makers.items():
                    case = f"{name}/{way}/{ask}/k={k}/seed={seed}"
                    full, n_questions = outcome(make, U, seed)
                    yield case, full
                    if seed < STOPPED:
                        yield f"{case}/stopped", outcome(make, U, seed, budget=n_questions // 2)[0]
        X, U = task(seed, 3)
        plan = partial(TwoPhase(sample_size=25, faithful=True).plan, X, 3, fuzzifier=2.0)

        def solver(rng: np.random.Generator, plan: Any = plan, X: Floats = X) -> Any:
            return repeated_solver(partial(plan, rng=rng), X, 6, batches=3)

        yield f"theorem-10/seed={seed}", outcome(solver, U, seed, noise=0.1)[0]


def outcome(
    make: Callable[..., Any], U: Floats, seed: int, *, budget: int | None = None, noise: float = 0.0
) -> tuple[dict[str, NDArray[Any]], int]:
    """Run a plan; its batches and its result, and the number of different questions."""
    batches: list[int] = []
    oracle: Any = TableOracle(U)
    if noise:
        oracle = NoisyOracle(oracle, std=noise, clip=False, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = recorded(make(np.random.default_rng(seed)), batches)
        result = run(plan, oracle, budget=budget)
    arrays = {
        "batches": np.array(batches, dtype=np.uint64),
        "counts": np.array([result.n_queries, result.n_queries_raw, result.complete]),
        "target": U,
        "centers": result.clustering.centers,
        "memberships": result.clustering.memberships,
    }
    return arrays, result.n_queries


def recorded(plan: Any, batches: list[int]) -> Generator[Any, Any, Any]:
    """The same plan, with the digests of its batches recorded."""
    try:
        queries = next(plan)
        while True:
            batches.append(batch_digest(queries))
            try:
                answers = yield queries
            except Exception as stop:  # StopAsking, for the plan
                queries = plan.throw(stop)
            else:
                queries = plan.send(answers)
    except StopIteration as end:
        return end.value
    finally:
        plan.close()


# ---- record and compare -------------------------------------------------------------------------


def record(path: Path) -> int:
    """Write everything to a file."""
    arrays: dict[str, Any] = {
        f"{case}|{name}": a for case, kept in cases() for name, a in kept.items()
    }
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    n_cases = sum(key.endswith("|batches") for key in arrays)
    n_batches = sum(len(a) for key, a in arrays.items() if key.endswith("|batches"))
    print(f"{path}: {n_cases} cases, {n_batches} batches.")
    return 0


def compare(path: Path) -> int:
    """Run everything again, and print the differences."""
    with np.load(path) as file:
        kept = {key: file[key] for key in file.files}
    differ, seen = 0, set[str]()
    for case, arrays in cases():
        seen.update(f"{case}|{name}" for name in arrays)
        message = difference({name: kept.get(f"{case}|{name}") for name in arrays}, arrays)
        if message:
            differ += 1
            print(f"{case}: {message}")
    lost = {key.partition("|")[0] for key in kept.keys() - seen}
    for case in sorted(lost):
        print(f"{case}: recorded, and no case any more")
    n_cases = len({key.partition("|")[0] for key in seen})
    print(f"{n_cases} cases, {differ + len(lost)} differ.")
    return int(differ + len(lost) > 0)


def difference(kept: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """The difference of a recorded case from the same one now; empty if there is none."""
    if any(array is None for array in kept.values()):
        return "was not recorded"
    if not close(kept["target"], arrays["target"]):
        return "another target: the file is another machine's, or tools/golden.py has changed"
    then, now = kept["batches"], arrays["batches"]
    if not np.array_equal(then, now):
        shared = min(len(then), len(now))
        differing = np.flatnonzero(then[:shared] != now[:shared])
        first = differing[0] if len(differing) else shared
        return f"other questions from batch {first} on ({len(then)} batches then, {len(now)} now)"
    for name in ("counts", "centers", "memberships"):
        if not close(kept[name], arrays[name]):
            return f"the same questions, other {name}"
    return ""


def close(then: NDArray[Any], now: NDArray[Any]) -> bool:
    """Whether two arrays agree to 1e-9."""
    return then.shape == now.shape and np.allclose(then, now, rtol=0.0, atol=CLOSE, equal_nan=True)


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    return (record if arguments.what == "record" else compare)(arguments.file)


if __name__ == "__main__":
    sys.exit(main())
