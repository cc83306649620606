"""What similarity questions reach: the figures behind docs/similarity-figures.md.

How many questions sort shapes; hidden features on five points, beside memberships; slips and
hostile answers; which of two an item is more like, beside cblearn's ordinal embedding, where that
is installed. Then the paper's way: how often exact answers give exact memberships; Jennrich's
algorithm beside Gram-first at equal questions; the error of new items' rows from noisy answers.
Last ActiveFuzzyKMeans with every kind of question. `--only NAME` for one table, `--seeds N`.
"""

import argparse
import itertools
import math
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles, run
from askmeans.driver import Oracle
from askmeans.exceptions import LittleInformationWarning, RankError
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.paper import by_similarity
from askmeans.paper.geometry import extreme_rows
from askmeans.paper.jennrich import memberships_by_jennrich
from askmeans.paper.recovery import embed, memberships_from_triplets, refine
from askmeans.queries import (
    MembershipQueries,
    PairQueries,
    Queries,
    RelativeQueries,
    TripletQueries,
)
from askmeans.results import Clustering

Floats = NDArray[np.float64]
Result = TypeVar("Result")

SEEDS, EXACT_SEEDS = 10, 100
NOISE = (0.0, 0.01, 0.05)
NOISY = {"sigma .01": 0.01, "sigma .05": 0.05, "sigma .1": 0.1, "101 levels": 101, "11": 11, "5": 5}


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    tables = {"shapes": shapes, "hidden": hidden, "slips": slips, "relative": relative}
    paper = {"exact": exact_answers, "sides": side_by_side, "new": new_items, "fits": end_to_end}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=[*tables, *paper], help="one table")
    parser.add_argument("--seeds", type=int, default=20, help="of the first four tables")
    options = parser.parse_args()
    for name, table in tables.items():
        if options.only in (None, name):
            table(range(options.seeds))
    for name, show in paper.items():
        if options.only in (None, name):
            show()


def shapes(seeds: range) -> None:
    """60 items of three groups, features that tell nothing: accuracy and questions."""
    print(f"Shapes: 60 items, 3 groups, useless features, {len(seeds)} seeds:")
    print("| answers | budget | mean accuracy | least | mean questions | most |")
    print("|---|---|---|---|---|---|")
    cases = {"0 or 1": (0.0, 0.0, 110), "1 in 20 is one half by mistake": (0.0, 0.05, 180),
             "a tenth in between": (0.1, 0.0, 180)}  # fmt: skip
    for name, (between, wrong, budget) in cases.items():
        found = np.array(_all(one_shape, [(seed, between, wrong, budget) for seed in seeds]))
        right, asked = found.T
        print(f"| {name} | {budget} | {right.mean():.3f} | {right.min():.3f} | {asked.mean():.0f} "
              f"| {asked.max():.0f} |", flush=True)  # fmt: skip
    print()


def one_shape(seed: int, between: float, wrong: float, budget: int) -> tuple[float, int]:
    """The share of items in their group, or in one of two, and the questions it took."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(60) % 3)
    U = np.eye(3)[y]
    for item in rng.permutation(60)[: round(60 * between)]:
        U[item] = (np.eye(3)[y[item]] + np.eye(3)[(y[item] + 1 + rng.integers(2)) % 3]) / 2.0
    oracle = Slipping(
        oracles.QuantizedOracle(oracles.TableOracle(U), levels=5), wrong, "half", seed
    )
    model = ActiveFuzzyKMeans(
        3, oracle=oracle, ask="similarity", levels=5 if between or wrong else None, budget=budget,
        random_state=seed,
    ).fit(rng.normal(size=(60, 4)))  # fmt: skip
    found = model.memberships_[:, metrics.match_clusters(U, model.memberships_)].argmax(axis=1)
    return float((U[np.arange(60), found] == U.max(axis=1)).mean()), model.n_queries_


class Slipping:
    """Answers of another, some of which are wrong: one half, or turned round."""

    def __init__(self, oracle: Oracle, share: float, how: str, seed: int) -> None:
        self.oracle, self.share, self.how = oracle, share, how
        self.rng = np.random.default_rng([seed, 1])

    def answer(self, queries: Queries) -> Floats:
        """Answers to a batch."""
        answers = np.array(self.oracle.answer(queries))
        wrong = self.rng.random(len(answers)) < self.share
        answers[wrong] = 0.5 if self.how == "half" else 1.0 - answers[wrong]
        return answers


def hidden_target(name: str, hard: bool) -> tuple[Floats, Floats]:
    """Every second feature, and what somebody knows who sees all of them."""
    load, k = {"Iris": (load_iris, 3), "Wine": (load_wine, 3),
               "Breast Cancer": (load_breast_cancer, 2)}[name]  # fmt: skip
    X = StandardScaler().fit_transform(load().data)
    U = fuzzy(X, k)
    return X[:, ::2], np.eye(k)[U.argmax(axis=1)] if hard else U


def hidden(seeds: range) -> None:
    """Errors of comparisons and of memberships on five points, with as many questions."""
    print(f"Hidden features, five points, {len(seeds)} seeds: mean error by memberships, by "
          "similarities, ratio:")  # fmt: skip
    print("| target | 50 | 100 | 200 |")
    print("|---|---|---|---|")
    ratios = []
    for name, hard in itertools.product(("Iris", "Wine", "Breast Cancer"), (False, True)):
        cells = []
        for budget in (50, 100, 200):
            cases = [(name, hard, budget, 0.0, seed) for seed in seeds]
            both = np.array(_all(both_kinds, cases)).mean(axis=0)
            ratios.append((both[1] + 1e-3) / (both[0] + 1e-3))  # nothing is as good as nearly so
            cells.append(f"{both[0]:.4f}, {both[1]:.4f}, {ratios[-1]:.2f}")
        print(f"| {name}, {'hard' if hard else 'soft'} | " + " | ".join(cells) + " |", flush=True)
    print(f"Ratios (.001 added on both sides): mean {np.mean(ratios):.2f}, at most "
          f"{max(ratios):.2f}.\n")  # fmt: skip


def both_kinds(name: str, hard: bool, budget: int, wrong: float, seed: int) -> list[float]:
    """Errors by memberships and by similarities on five points."""
    X, U = hidden_target(name, hard)
    errors = []
    for ask in ("membership", "similarity"):
        table = oracles.QuantizedOracle(oracles.TableOracle(U), levels=5)
        model = ActiveFuzzyKMeans(
            U.shape[1], oracle=Slipping(table, wrong, "turned", seed), ask=ask, levels=5,
            budget=budget, random_state=seed,
        ).fit(X)  # fmt: skip
        errors.append(metrics.membership_error(U, model.memberships_, how="mean"))
    return errors


def slips(seeds: range) -> None:
    """Errors where one answer in ten is turned round, beside none."""
    print(f"One comparison in ten turned round, 100 questions, {len(seeds)} seeds: mean error "
          "without, with, bar (1.5 x + .02):")  # fmt: skip
    for name, hard in itertools.product(("Iris", "Wine", "Breast Cancer"), (False, True)):
        clean, wrong = (
            float(
                np.mean([e[1] for e in _all(both_kinds, [(name, hard, 100, w, s) for s in seeds])])
            )
            for w in (0.0, 0.1)
        )
        print(f"- {name}, {'hard' if hard else 'soft'}: {clean:.4f}, {wrong:.4f}, "
              f"{1.5 * clean + 0.02:.4f}", flush=True)  # fmt: skip
    print()


def relative(seeds: range) -> None:
    """Which of two an item is more like, beside ordinal embedding of as many random triplets."""
    print(f"Which of two is more alike, {len(seeds)} seeds: mean error, share of items in their "
          "group, by askmeans; by cblearn's SOE in two dimensions and fuzzy k-means:")  # fmt: skip
    print("| target | 50 | 100 | 200 |")
    print("|---|---|---|---|")
    names = [*itertools.product(("Iris", "Wine", "Breast Cancer"), (False, True)), ("Shapes", True)]
    for name, hard in names:
        cells = []
        for budget in (50, 100, 200):
            cell = []
            for way in (sides_by_askmeans, sides_by_cblearn):
                try:
                    found = _all(way, [(name, hard, budget, seed) for seed in seeds])
                    error, right = np.mean(found, axis=0)
                    cell.append(f"{error:.3f}, {right:.3f}")
                except ImportError:
                    cell.append("not installed")
            cells.append("; ".join(cell))
        print(f"| {name}, {'hard' if hard else 'soft'} | " + " | ".join(cells) + " |", flush=True)
    print()


def sides_target(name: str, hard: bool, seed: int) -> tuple[Floats, Floats]:
    """Features and memberships; of shapes the features tell nothing."""
    if name != "Shapes":
        return hidden_target(name, hard)
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 4)), np.eye(3)[rng.permutation(np.arange(60) % 3)]


def sides_by_askmeans(name: str, hard: bool, budget: int, seed: int) -> tuple[float, float]:
    """Error and accuracy of ours."""
    X, U = sides_target(name, hard, seed)
    model = ActiveFuzzyKMeans(U.shape[1], oracle=oracles.TableOracle(U), ask="relative",
                              budget=budget, random_state=seed).fit(X)  # fmt: skip
    return _error_and_accuracy(U, model.memberships_)


def sides_by_cblearn(name: str, hard: bool, budget: int, seed: int) -> tuple[float, float]:
    """Error and accuracy of soft ordinal embedding (cblearn) of random triplets without ties."""
    from cblearn.embedding import SOE

    _, U = sides_target(name, hard, seed)
    rng = np.random.default_rng(seed)
    threes = np.array([rng.choice(len(U), 3, replace=False) for _ in range(budget)])
    answers = oracles.TableOracle(U).answer(RelativeQueries(threes))
    nearest_first = np.where((answers > 0.5)[:, None], threes, threes[:, [0, 2, 1]])
    told = np.vstack([nearest_first[answers != 0.5], [[len(U) - 1, 0, 1]]])  # so long is the table
    Z = SOE(n_components=2, n_init=3, random_state=seed).fit_transform(told)
    model = FuzzyKMeans(U.shape[1], n_init=5, random_state=seed).fit(Z)
    return _error_and_accuracy(U, model.memberships_)


def _error_and_accuracy(U: Floats, found: Floats) -> tuple[float, float]:
    """Mean error under the best permutation, and the share of items in their group."""
    F = found[:, metrics.match_clusters(U, found)]
    right = (F.argmax(axis=1) == U.argmax(axis=1)).mean()
    return metrics.membership_error(U, F, how="mean"), float(right)


def exact_answers() -> None:
    """Table 0: exact answers, 100 seeds; and the same targets with a cluster split in two halves.

    The halves have proportional memberships, as those of coinciding centres, and must be refused.
    """
    print(f"Exact answers, {EXACT_SEEDS} seeds: rows within 1e-8 of the target, worst error, and "
          "targets with two coinciding clusters that were refused:")  # fmt: skip
    print("| target | exact | worst | coinciding refused |")
    print("|---|---|---|---|")
    for name, make in exact_targets().items():
        cases = [(make(seed), seed) for seed in range(EXACT_SEEDS)]
        errors, refused = np.array(_all(exact_run, cases)).T
        exact = int((errors < 1e-8).sum())
        of = f"of {EXACT_SEEDS}"
        print(f"| {name} | {exact} {of} | {errors.max():.0e} | {int(refused.sum())} {of} |",
              flush=True)  # fmt: skip
    print()


def exact_targets() -> dict[str, Callable[[int], Floats]]:
    """Targets by name; those drawn at random depend on the seed."""

    def dirichlet(k: int) -> Callable[[int], Floats]:
        return lambda seed: np.random.default_rng(seed).dirichlet(np.ones(k), size=120)

    def hard(k: int) -> Callable[[int], Floats]:
        return lambda seed: np.eye(k)[np.random.default_rng(seed).permutation(120) % k]

    def always(U: Floats) -> Callable[[int], Floats]:
        return lambda _: U

    scale = StandardScaler().fit_transform
    data = {"Iris": load_iris, "Wine": load_wine, "Breast Cancer": load_breast_cancer}
    known = {f"{name} FCM, k={k}": always(fuzzy(scale(load().data), k))
             for (name, load), k in zip(data.items(), (3, 3, 2), strict=True)}  # fmt: skip
    blobs = {f"blobs FCM, k={k}": always(fuzzy(make_blobs(200, 4, centers=k, random_state=0)[0], k))
             for k in (3, 5, 8, 10)}  # fmt: skip
    return (
        {f"Dirichlet(1), k={k}": dirichlet(k) for k in range(2, 11)}
        | known
        | blobs
        | {f"one-hot, k={k}": hard(k) for k in (2, 3, 5, 8, 10)}
    )


def exact_run(U: Floats, seed: int) -> tuple[float, bool]:
    """The largest error, and whether the same target with a cluster split in two was refused."""
    found = whole_rows(U, U.shape[1], seed)
    error = float(metrics.membership_error(U, found))
    halves = np.column_stack([U[:, :-1], U[:, -1] / 2, U[:, -1] / 2])
    try:
        whole_rows(halves, U.shape[1] + 1, seed)
    except RankError:
        return error, True
    return error, False


def whole_rows(U: Floats, k: int, seed: int) -> Floats:
    """The rows of all items, by similarity questions."""
    n = len(U)

    def plan() -> Generator[Queries, Floats, Clustering]:
        rows = yield MembershipQueries(np.repeat(np.arange(n), k), np.tile(np.arange(k), n))
        F = rows.reshape(n, k)
        nobody: Any = None  # predicts here
        return Clustering(centers=np.zeros((k, 1)), memberships=F, predictor=nobody, complete=True)

    asking = by_similarity(plan(), n, k, rng=np.random.default_rng(seed))
    return run(asking, oracles.TableOracle(U)).clustering.memberships


def side_by_side() -> None:
    """Table 1: both routes at equal questions, memberships from Dirichlet(1)."""
    print(f"Median RMSE of the rows recovered, {SEEDS} seeds, Dirichlet(1), at equal questions:")
    print("| clusters | questions | route | " + " | ".join(f"noise {s:g}" for s in NOISE) + " |")
    print("|---|---|---|" + "---|" * len(NOISE))
    for k in (3, 5, 8):
        size, total = _pool_size(k), (2 * k) ** 3
        asked = math.comb(size, 2) + math.comb(2 * k, 3)
        cases = list(itertools.product([k], [size], NOISE, range(SEEDS)))
        errors = np.array(_all(both_routes, cases)).reshape(len(NOISE), SEEDS, 3)
        routes = ("Jennrich", "Jennrich, refined", "Gram-first")
        for number, route in enumerate(routes):
            medians = np.median(errors[:, :, number], axis=1)
            count = f"{asked:,}" if route == "Gram-first" else f"{total:,}"
            cells = " | ".join(_short(value) for value in medians)
            print(f"| {k} | {count} | {route} | {cells} |", flush=True)
    print()


def both_routes(k: int, size: int, sigma: float, seed: int) -> tuple[float, float, float]:
    """RMSE of Jennrich, the same refined, and Gram-first."""
    return (*jennrich(k, sigma, seed), gram_first(k, size, sigma, seed))


def jennrich(k: int, sigma: float, seed: int) -> tuple[float, float]:
    """RMSE of 6 k rows from all triplets across three sets of 2 k; the same after refinement."""
    rng = np.random.default_rng(seed)
    U = rng.dirichlet(np.ones(k), size=6 * k)
    T = _disturbed(np.einsum("ar,br,cr->abc", *np.split(U, 3)), sigma, rng)
    found = memberships_by_jennrich(T, rng, k)
    F = np.vstack([found.A, found.B, found.C])
    triplets = np.array(list(np.ndindex(T.shape))) + np.arange(3) * 2 * k
    no_pairs = np.full((6 * k, 6 * k), np.nan)
    inside = 0.9 * F + 0.1 / k  # rows without a common cluster would leave nothing to fit
    better = F if sigma == 0 else refine(inside, no_pairs, triplets, T.ravel())
    return _rmse(U, F), _rmse(U, better)


def gram_first(k: int, size: int, sigma: float, seed: int) -> float:
    """RMSE of a pool's rows from all its pairs and the triplets of 2 k extreme items."""
    rng = np.random.default_rng(seed)
    U = rng.dirichlet(np.ones(k), size=size)
    upper = np.triu(_disturbed(U @ U.T, sigma, rng), 1)
    G = upper + upper.T
    embedding = embed(G, k, rng)
    triplets = np.array(list(itertools.combinations(extreme_rows(embedding.Z, 2 * k), 3)))
    answers = _disturbed(np.prod(U[triplets], axis=1).sum(axis=1), sigma, rng)
    found = memberships_from_triplets(embedding, triplets, answers, rng)
    assert found is not None
    return _rmse(U, found[0] if sigma == 0 else refine(found[0], G, triplets, answers))


def new_items() -> None:
    """Table 2: rows of 100 items outside the pool, 2 k anchors each; beside direct answers."""
    print(f"Median RMSE of 100 new items from 2 k pairs each, {SEEDS} seeds; "
          "* where half the runs or more warned of little information:")  # fmt: skip
    print("| target | no information | asked | " + " | ".join(NOISY) + " |")
    print("|---|---|---|" + "---|" * len(NOISY))
    for name, U in targets():
        nothing = math.sqrt(np.square(U - U.mean(axis=0)).mean())
        by_pairs, direct = [], []
        for noise in NOISY.values():
            runs = np.array(_all(one_run, [(U, noise, seed) for seed in range(SEEDS)]))
            rmse, plain, warned = np.median(runs, axis=0)
            by_pairs.append(_short(rmse) + ("*" if warned >= 0.5 else ""))
            direct.append(_short(plain))
        print(f"| {name} | {_short(nothing)} | similarities | " + " | ".join(by_pairs) + " |")
        print("| | | memberships | " + " | ".join(direct) + " |", flush=True)
    print()


def targets() -> list[tuple[str, Floats]]:
    """Memberships that somebody may have in mind: diffuse, fuzzy, hard."""
    rng = np.random.default_rng(0)
    blobs = make_blobs(400, 4, centers=5, cluster_std=1.5, random_state=0)[0]
    return [
        ("Dirichlet(1), k=3", rng.dirichlet(np.ones(3), size=300)),
        ("Iris FCM", fuzzy(load_iris().data, 3)),
        ("standardised Wine FCM", fuzzy(StandardScaler().fit_transform(load_wine().data), 3)),
        ("Breast Cancer FCM, k=2", fuzzy(load_breast_cancer().data, 2)),
        ("Iris labels", np.eye(3)[load_iris().target]),
        ("blobs FCM, k=5", fuzzy(blobs, 5)),
        ("Dirichlet(1), k=5", rng.dirichlet(np.ones(5), size=400)),
    ]


def fuzzy(X: Floats, k: int) -> Floats:
    """The memberships of an unsupervised fit."""
    model = FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X)
    U: Floats = model.memberships_.astype(np.float64)
    return U


def one_run(U: Floats, noise: float, seed: int) -> tuple[float, float, float]:
    """RMSE of new items by similarities, by memberships answered alike, and 1 if it warned."""
    table = oracles.TableOracle(U)
    oracle: Oracle = oracles.NoisyOracle(table, std=noise, random_state=seed)
    if noise >= 1:
        oracle = oracles.QuantizedOracle(table, levels=int(noise))
    n, k = U.shape
    rng = np.random.default_rng(seed)
    seen: set[int] = set()
    outcome: list[tuple[Floats, Floats, Floats]] = []

    def plan() -> Generator[Queries, Floats, Clustering]:
        """Ask for one item, which makes the pool, then for 100 that are not in it."""
        yield MembershipQueries([int(rng.integers(n))], [0])
        new = rng.permutation(np.setdiff1d(np.arange(n), list(seen)))[:100]
        queries = MembershipQueries(np.repeat(new, k), np.tile(np.arange(k), len(new)))
        found = (yield queries).reshape(-1, k)
        outcome.append((U[new], found, onto_simplex(oracle.answer(queries).reshape(-1, k))))
        raise GeneratorExit  # no clustering is wanted

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LittleInformationWarning)
        levels = int(noise) if noise >= 1 else None
        asking = by_similarity(plan(), n, k, rng=rng, noisy=True, levels=levels)
        try:
            queries = next(asking)
            while True:
                assert isinstance(queries, PairQueries | TripletQueries)
                asked = queries.pairs if isinstance(queries, PairQueries) else queries.triplets
                seen.update(asked.ravel().tolist())
                queries = asking.send(oracle.answer(queries))
        except GeneratorExit:
            pass
    truth, found, direct = outcome[0]
    return _rmse(truth, found), _rmse(truth, direct), float(bool(caught))


def end_to_end() -> None:
    """Table 3: whole fits, with exact answers and on a scale of five points."""
    print(f"ActiveFuzzyKMeans, targets of fuzzy k-means on standardised data, {SEEDS} seeds: mean "
          "membership error, questions:")  # fmt: skip
    print("| data | answers | ask=membership | ask=similarity | ask=pairwise |")
    print("|---|---|---|---|---|")
    for name, load, k in (
        ("Iris", load_iris, 3), ("Wine", load_wine, 3), ("Breast Cancer", load_breast_cancer, 2)
    ):  # fmt: skip
        X = StandardScaler().fit_transform(load().data)
        U = fuzzy(X, k)
        for levels in (None, 5):
            cells = [_fits(X, U, ask, levels) for ask in ("membership", "similarity", "pairwise")]
            answers = "exact" if levels is None else f"{levels} points"
            print(f"| {name}, k={k} | {answers} | " + " | ".join(cells) + " |", flush=True)


def _fits(X: Floats, U: Floats, ask: str, levels: int | None) -> str:
    """Mean error and questions of whole fits."""
    oracle: Oracle = oracles.TableOracle(U)
    if levels is not None:
        oracle = oracles.QuantizedOracle(oracle, levels=levels)
    told = None if ask == "membership" else levels
    cases = [(X, U, oracle, ask, told, seed) for seed in range(SEEDS)]
    errors, counts = np.array(_all(one_fit, cases)).T
    return f"{_short(float(np.mean(errors)))}, {np.mean(counts):.0f}"


def one_fit(
    X: Floats, U: Floats, oracle: Oracle, ask: str, levels: int | None, seed: int
) -> tuple[float, int]:
    """Mean error and questions of one fit."""
    model = ActiveFuzzyKMeans(
        U.shape[1], oracle=oracle, ask=ask, levels=levels, random_state=seed
    ).fit(X)
    return metrics.membership_error(U, model.memberships_, how="mean"), model.n_queries_


def _pool_size(k: int) -> int:
    """The largest pool whose pairs, with C(2 k, 3) triplets, are no more than (2 k)^3 questions."""
    size = 2 * k
    while math.comb(size + 1, 2) + math.comb(2 * k, 3) <= (2 * k) ** 3:
        size += 1
    return size


def _all(function: Callable[..., Result], cases: list[tuple[Any, ...]]) -> list[Result]:
    """What a function makes of every case, on every core."""
    with ProcessPoolExecutor(initializer=_set_up) as pool:
        return list(pool.map(function, *zip(*cases, strict=True)))


def _set_up() -> None:
    """One thread in each process: small matrices gain nothing from more, and would wait for it."""
    warnings.simplefilter("ignore")
    threadpool_limits(1)


def _disturbed(answers: Floats, sigma: float, rng: np.random.Generator) -> Floats:
    """Answers with Gaussian errors, cut to [0, 1]."""
    noisy: Floats = np.clip(answers + sigma * rng.normal(size=answers.shape), 0.0, 1.0)
    return noisy


def _rmse(truth: Floats, found: Floats) -> float:
    """Root mean square error under the best permutation of the clusters."""
    order = metrics.match_clusters(truth, found)
    return math.sqrt(np.square(found[:, order] - truth).mean())


def _short(value: float) -> str:
    """Three decimals, or an order of magnitude where that is all there is to say."""
    return f"{value:.3f}" if value >= 1e-3 else "0" if value < 1e-16 else f"{value:.0e}"


if __name__ == "__main__":
    main()
