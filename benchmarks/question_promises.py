"""What the stratified strategy shows beside the grid: known figures, the paper's data, speed."""

import contextlib
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import scale

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, Stratified, metrics, oracles, run
from askmeans.exceptions import StopAsking
from askmeans.fuzzy import lloyd
from askmeans.fuzzy.model import closed_form_memberships
from askmeans.results import Result
from question_targets import paper_data

__all__ = ["print_promises"]

Floats = NDArray[np.float64]
LOADERS = {"Iris": load_iris, "Wine": load_wine, "Breast Cancer": load_breast_cancer}
KNOWN = {"Breast Cancer": (0.93, 0.97, 0.99), "Iris": (0.93, 0.96, 0.98), "Wine": (0.91, 0.98, 1.0)}
PAIRWISE = {"Iris": (0.95, 0.96, 0.99), "Wine": (0.95, 0.97, 0.98)}
NEVER = 1e-9  # a precision that is not reached


def ask(
    X: Floats, U: Floats, seed: int, *, items: int | None = None, budget: int | None = None
) -> Result:
    """One run of the stratified strategy."""
    strategy = Stratified(precision=NEVER, max_items=items)
    plan = strategy.plan(X, U.shape[1], fuzzifier=2.0, rng=np.random.default_rng(seed))
    return run(plan, oracles.TableOracle(U), budget=budget)


def known_figures(seeds: range) -> None:
    """Accuracy on hard labels by items asked; rows in random order (often that changes nothing)."""
    print("Hard labels, standardised, answered items counted in; accuracy at 10 / 20 / 50 items:")
    for name, figures in KNOWN.items():
        X, y = LOADERS[name](return_X_y=True)
        found = []
        for items in (10, 20, 50):
            right = []
            for seed in seeds:
                rows = np.random.default_rng(seed).permutation(len(y))
                U = ask(scale(X)[rows], np.eye(y.max() + 1)[y[rows]], seed, items=items)
                right.append(metrics.matched_accuracy(y[rows], U.clustering.memberships.argmax(1)))
            found.append(float(np.mean(right)))
        print(f"  {name}: " + " / ".join(f"{f:.3f}" for f in found) + "; to beat: "
              + " / ".join(f"{f:.2f}" for f in figures), flush=True)  # fmt: skip


def pairwise_figures(seeds: range) -> None:
    """Accuracy on raw features by pairwise questions."""
    print("Pairwise questions, raw features; accuracy at 10 / 20 / 50 / 100 / 200 questions:")
    for name, figures in PAIRWISE.items():
        X, y = LOADERS[name](return_X_y=True)
        cells = []
        for budget in (10, 20, 50, 100, 200):
            right = []
            for seed in seeds:
                model = ActiveFuzzyKMeans(
                    3, oracle=oracles.TableOracle.from_labels(y), ask="pairwise", budget=budget,
                    strategy=Stratified(precision=NEVER), random_state=seed,
                )  # fmt: skip
                right.append(metrics.matched_accuracy(y, model.fit(X).labels_))
            cells.append(f"{np.mean(right):.3f}")
        print(f"  {name}: " + " / ".join(cells) + "; MPCKMeans at 10 / 20 / 50: "
              + " / ".join(f"{f:.2f}" for f in figures), flush=True)  # fmt: skip


def paper_figures(seeds: range) -> None:
    """Centres of the paper's own data; an unsupervised fit mostly finds them by itself."""
    print("The paper's data, a fuzzy k-means target (FuzzyKMeans mostly finds it unasked):")
    cases = [([5000] + [5000 * zeta] * 3, 40, 100.0) for zeta in (1, 4, 24)]
    cases.append(([1000] + [12_000] * 10, 150, 250.0))
    for sizes, budget, box in cases:
        errors, used = [], []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            X, y = paper_data(sizes, rng, box=box)
            start = np.array([X[y == j].mean(axis=0) for j in range(len(sizes))])
            target = lloyd.fit(
                X, len(sizes), fuzzifier=2.0, init=start, n_init=1, max_iter=300, tol=1e-8,
                weights=np.empty(0), rng=rng,
            )  # fmt: skip
            U = closed_form_memberships(X, target.centers, 2.0)
            result = ask(X, U, seed, budget=budget)
            errors.append(metrics.center_error(target.centers, result.clustering.centers))
            used.append(result.n_queries)
        beta = len(sizes) * sizes[0] / sum(sizes)
        what = f"k={len(sizes)}, n={sum(sizes):,}, beta about {beta:.3f}"
        print(f"  {what}: {max(used)} questions, centre error {np.mean(errors):.4f}, "
              f"at most {max(errors):.4f}", flush=True)  # fmt: skip


def fuzzy_figures(seeds: range) -> None:
    """Fuzzy k-means targets of what the solver sees."""
    print("Fuzzy k-means targets of what the solver sees (FuzzyKMeans finds them by itself):")
    for name, budget, bar in (
        ("Iris", 40, 0.010),
        ("Wine", 40, 0.012),
        ("Breast Cancer", 20, 0.020),
    ):
        X, y = LOADERS[name](return_X_y=True)
        X, k = scale(X), int(y.max()) + 1
        model = FuzzyKMeans(k, n_init=10, tol=1e-8, random_state=0).fit(X)
        U = model.memberships_.astype(np.float64)
        errors = [
            np.abs(ask(X, U, seed, budget=budget).clustering.memberships - U).mean()
            for seed in seeds
        ]
        print(f"  {name}, {budget} questions: mean membership error {np.mean(errors):.4f}, at most "
              f"{max(errors):.4f}; bar {bar}", flush=True)  # fmt: skip


def speed() -> None:
    """A person never waits: a million items, by rounds."""
    rng = np.random.default_rng(0)
    truth = 2.0 * rng.normal(size=(4, 10))
    labels = rng.integers(4, size=1_000_000)
    X = truth[labels] + rng.normal(size=(len(labels), 10))
    U = np.eye(4)[labels]
    began = time.perf_counter()
    KMeans(4, n_init=1, random_state=0).fit(X)
    kmeans = time.perf_counter() - began
    ask(X[:5000], U[:5000], 0, budget=40)  # compiles
    strategy = Stratified(precision=NEVER, max_items=None)
    plan = strategy.plan(X, 4, fuzzifier=2.0, rng=np.random.default_rng(0))
    began = time.perf_counter()
    batch = next(plan)
    first, waits, asked = time.perf_counter() - began, [], len(batch)
    while asked < 400:
        answers = U[batch.items, batch.clusters]  # type: ignore[union-attr]  # memberships
        began = time.perf_counter()
        try:
            batch = plan.send(answers)
        except StopIteration:
            break
        waits.append(time.perf_counter() - began)
        asked += len(batch)
    began = time.perf_counter()
    with contextlib.suppress(StopIteration):
        plan.throw(StopAsking(np.full(len(batch), np.nan)))
    last = time.perf_counter() - began
    print(f"n = 1,000,000, d = 10: first batch after {first:.2f} s; {len(waits)} more rounds, "
          f"{np.mean(waits):.2f} s each, at most {max(waits):.2f} s; "
          f"the result {last:.2f} s; one k-means fit {kmeans:.2f} s")  # fmt: skip


def print_promises(seeds: range) -> None:
    """Everything; the parts with large data use a quarter of the seeds."""
    warnings.simplefilter("ignore")
    known_figures(seeds)
    pairwise_figures(seeds)
    fuzzy_figures(seeds)
    paper_figures(seeds[: max(2, len(seeds) // 4)])
    speed()
