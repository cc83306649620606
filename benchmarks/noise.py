"""What rough answers cost, and what repeating, fitting and doubting them brings: docs/noise.md.

Tables: a planted link; noise, repeats and scales on real data; hostile answers and who gave them;
Theorem 10 beside repeated questions; centres from noisy weights.
"""

import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, TwoPhase, metrics, oracles, run
from askmeans.contradictions import find_suspects
from askmeans.denoising import learn_rough_link
from askmeans.driver import Oracle
from askmeans.exceptions import StopAsking
from askmeans.fuzzy import weighted_centers
from askmeans.items import ArrayItems
from askmeans.links import learn_link
from askmeans.paper.known_memberships import Answers, Averaged, Plan, Roughness
from askmeans.paper.search_state import Draft
from askmeans.paper.fitting import fit_draft
from askmeans.paper.search import search_cuts
from askmeans.queries import MembershipQueries
from askmeans.results import Clustering, Result
from askmeans.scores import Scorer
from askmeans.paper import repeated, repeated_adaptively, repeated_solver
from askmeans.paper.repeated import stop_plan, with_repeat

Floats = NDArray[np.float64]

SEEDS = 5
SIGMAS = (0.0, 0.05, 0.1, 0.2)
LEVELS = (5, 11, 101)
DATA = {"Iris": (load_iris, 3), "Wine": (load_wine, 3), "Breast Cancer": (load_breast_cancer, 2)}
TARGETS = ("FCM", "hidden features", "mixture")
CASES = [(data, target) for data in DATA for target in TARGETS]


def main() -> None:
    """Print all tables."""
    planted_links()
    noise_and_repeats()
    questions()
    scales()
    noisy_scales()
    hostility()
    hostile_similarities()
    theorem_10()
    centers()


# ---- what is asked ----------------------------------------------------------------------------


@cache
def target_of(data: str, target: str) -> tuple[Floats, Floats]:
    """What the solver sees, and the memberships that the expert has in mind."""
    load, k = DATA[data]
    X = StandardScaler().fit_transform(load().data)
    if target == "mixture":
        model = GaussianMixture(k, covariance_type="diag", n_init=3, random_state=0).fit(X)
        return X, model.predict_proba(X)
    fuzzy = FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X)
    seen = X if target == "FCM" else X[:, ::2]  # the expert knows all features
    return seen, fuzzy.memberships_.astype(np.float64)


def noisy(U: Floats, sigma: float, seed: int) -> Oracle:
    """An expert whose answers are off by chance, and cut to [0, 1]."""
    return oracles.NoisyOracle(oracles.TableOracle(U), std=sigma, random_state=seed)


def crowd(U: Floats, sigma: float, seed: int, how: Any) -> oracles.CrowdOracle:
    """Ten annotators; the last one is hostile, if at all."""
    honest = noisy(U, sigma, seed)
    hostile = honest
    if how != "none":
        hostile = oracles.HostileOracle(oracles.TableOracle(U), how=how, random_state=seed)
    return oracles.CrowdOracle([honest] * 9 + [hostile], random_state=seed)


def maker(X: Floats, k: int, seed: int, **parameters: Any) -> Callable[[], Plan]:
    """Makes the two-phase plan, the same one each time."""
    strategy = TwoPhase(**parameters)
    return lambda: strategy.plan(X, k, fuzzifier=2.0, rng=np.random.default_rng(seed))


def error(U: Floats, result: Result) -> float:
    """The mean membership error; clusters have names, so nothing is permuted."""
    return float(np.abs(U - result.clustering.memberships).mean())


# ---- tables -----------------------------------------------------------------------------------

LINKS: dict[str, Callable[[Floats], Floats]] = {
    "logistic": lambda x: 1.0 / (1.0 + np.exp(-8.0 * (x - 0.5))),
    "square": lambda x: x**2,
    "two slopes": lambda x: np.where(x < 0.6, x / 3.0, 0.2 + 2.0 * (x - 0.6)),
}


def planted_links() -> None:
    """Table 1: one cluster against another along a line, 5,000 items."""
    print("Planted links, sigma .1, 5,000 items, three askings, 10 seeds: mean membership error")
    print("| link | answers | grid, lower ends | answers of the search | spread evenly |")
    print("|---|---|---|---|---|")
    for name in LINKS:
        rows = np.array(_all(planted_run, [(name, seed, 0.05) for seed in range(10)]))
        count, grid, search, even = rows.mean(axis=0)
        print(f"| {name} | {count:.0f} | {grid:.3f} | {search:.3f} | {even:.3f} |", flush=True)
    print("\nThe same with few, exact answers:")
    print("| link | answers | grid, lower ends | link through the answers |")
    print("|---|---|---|---|")
    for name in LINKS:
        rows = np.array(_all(few_run, [(name, seed) for seed in range(10)]))
        count, grid, link = rows.mean(axis=0)
        print(f"| {name} | {count:.0f} | {grid:.3f} | {link:.3f} |", flush=True)
    print()


def planted_run(name: str, seed: int, precision: float) -> tuple[float, float, float, float]:
    """Answers of the search along the true order; errors: grid, all answers fitted, even spread."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(5000))
    u = LINKS[name](x)
    oracle = noisy(np.column_stack([u, 1.0 - u]), 0.1, seed)
    ranking = ArrayItems(x[:, None]).rank(Scorer(centers=np.ones((1, 1)), order="distance"))
    one = np.zeros(1, dtype=np.intp)
    listed = Answers(2, faithful=True)
    asking = search_cuts(ranking, len(x), one, one, listed, precision, "search")
    grid = ranking.levels(0, _drive(asking, oracle, times=3)[0]) * precision
    answers = Answers(2, faithful=False)
    asking = search_cuts(ranking, len(x), one, one, answers, precision, "search", rough=True)
    _drive(asking, oracle, times=3)
    places, _, values = answers.single()
    where, ones = x[answers.items[places]], np.ones(len(values))
    search = learn_rough_link(where, values, ones, anchored=False).link(x)
    rows = np.linspace(0, len(x) - 1, len(values)).astype(np.intp)
    told = oracle.answer(MembershipQueries(rows, np.zeros(len(rows), dtype=np.intp), repeat=9))
    even = learn_rough_link(x[rows], told, ones, anchored=False).link(x)
    errors = [float(np.abs(found - u).mean()) for found in (grid, search, even)]
    return len(values), errors[0], errors[1], errors[2]


def few_run(name: str, seed: int) -> tuple[float, float, float]:
    """Exact answers at a few ranks: the cell's lower end, or the link through the answers."""
    x = np.sort(np.random.default_rng(seed).random(5000))
    u = LINKS[name](x)
    rows = np.linspace(0, len(x) - 1, 11).astype(np.intp)
    grid = u[rows][np.searchsorted(rows, np.arange(len(x)), side="right") - 1]
    link = learn_link(x[rows], u[rows])(x)
    return len(rows), float(np.abs(grid - u).mean()), float(np.abs(link - u).mean())


def noise_and_repeats() -> None:
    """Table 2: answers taken at their word, fitted, repeated, repeated where it matters."""
    print(f"Mean membership error, two-phase, {SEEDS} seeds; three askings in the last two:")
    print("| data | expert has in mind | alone | sigma | at their word | fitted | repeated "
          "| adaptive | questions |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    worst = -1.0
    for data, target in CASES:
        X, U = target_of(data, target)
        alone = FuzzyKMeans(U.shape[1], n_init=5, random_state=0).fit(X).memberships_
        free = metrics.membership_error(U, alone, how="mean")
        for sigma in SIGMAS:
            cases = [(data, target, sigma, seed) for seed in range(SEEDS)]
            word, fitted, fixed, adaptive, once, thrice = np.mean(_all(noise_run, cases), axis=0)
            worst = max(worst, adaptive - fixed)
            print(f"| {data} | {target} | {free:.3f} | {sigma:g} | {word:.3f} | {fitted:.3f} | "
                  f"{fixed:.3f} | {adaptive:.3f} | {once:.0f}, {thrice:.0f} |",
                  flush=True)  # fmt: skip
    print(f"Adaptive beside repeated, at no more questions: worse by {worst:.4f} at most.\n")


def noise_run(data: str, target: str, sigma: float, seed: int) -> tuple[float, ...]:
    """Errors of four ways to deal with noise, and the questions of one and of three askings."""
    X, U = target_of(data, target)
    oracle, k = noisy(U, sigma, seed), U.shape[1]
    word = run(maker(X, k, seed)(), oracle)
    fitted = run(maker(X, k, seed, noise="auto")(), oracle)
    fixed = run(repeated(maker(X, k, seed)(), 3), oracle)
    adaptive = run(repeated_adaptively(maker(X, k, seed), 3), oracle, budget=fixed.n_queries)
    errors = [error(U, result) for result in (word, fitted, fixed, adaptive)]
    return *errors, fitted.n_queries, fixed.n_queries


def questions() -> None:
    """Table 3: error against questions at sigma .1; asked once, but more; repeated; adaptive."""
    print(f"Error against questions, sigma .1, mean over the nine targets, {SEEDS} seeds:")
    print("| askings | questions | other items, once | repeated | adaptive |")
    print("|---|---|---|---|---|")
    worst = -1.0
    for times in (1, 2, 3, 5):
        cases = [(*case, times, seed) for case in CASES for seed in range(SEEDS)]
        found = np.array(_all(budget_run, cases)).reshape(len(CASES), SEEDS, 4).mean(axis=1)
        worst = max(worst, float((found[:, 3] - found[:, 2]).max()))
        count, once, fixed, adaptive = found.mean(axis=0)
        print(f"| {times} | {count:.0f} | {once:.3f} | {fixed:.3f} | {adaptive:.3f} |", flush=True)
    print(f"On single targets, adaptive is worse than repeated by {worst:.4f} at most.\n")


def budget_run(data: str, target: str, times: int, seed: int) -> tuple[float, ...]:
    """Questions, and errors when they go to more items, to repeats, to repeats that matter."""
    X, U = target_of(data, target)
    oracle, k = noisy(U, 0.1, seed), U.shape[1]
    fixed = run(repeated(maker(X, k, seed, noise="auto")(), times), oracle)
    more = maker(X, k, seed, sample_size=100 * times, precision=0.1 / times, noise="auto")()
    once = run(more, oracle, budget=fixed.n_queries)
    again = repeated_adaptively(maker(X, k, seed, noise="auto"), times)
    adaptive = run(again, oracle, budget=fixed.n_queries)
    return fixed.n_queries, error(U, once), error(U, fixed), error(U, adaptive)


def scales() -> None:
    """Table 4: coarse answers at their word, and as intervals."""
    heads = [f"{levels} points" for levels in LEVELS]
    print(f"Coarse answers, two-phase, {SEEDS} seeds: mean error at their word, as intervals:")
    print("| data | expert has in mind | " + " | ".join(heads) + " |")
    print("|---|---|" + "---|" * len(heads))
    for data, target in CASES:
        cells = []
        for levels in LEVELS:
            found = _all(scale_run, [(data, target, levels, seed) for seed in range(SEEDS)])
            cells.append("{:.3f}, {:.3f}".format(*np.mean(found, axis=0)))
        print(f"| {data} | {target} | " + " | ".join(cells) + " |", flush=True)
    print()


def scale_run(data: str, target: str, levels: int, seed: int) -> tuple[float, float]:
    """Errors of answers on a scale: at their word, as intervals."""
    X, U = target_of(data, target)
    oracle = oracles.QuantizedOracle(oracles.TableOracle(U), levels=levels)
    word = run(maker(X, U.shape[1], seed)(), oracle)
    fitted = run(maker(X, U.shape[1], seed, levels=levels)(), oracle)
    return error(U, word), error(U, fitted)


def noisy_scales() -> None:
    """Table 5: noise, then a coarse scale; asked once, repeated, adaptive."""
    heads = [f"{levels} points" for levels in LEVELS]
    print(f"Noise of .1, then a scale, as intervals, {SEEDS} seeds: once, repeated, adaptive:")
    print("| data | expert has in mind | " + " | ".join(heads) + " | questions |")
    print("|---|---|" + "---|" * (len(heads) + 1))
    worst = -1.0
    for data, target in CASES:
        cells, counts = [], []
        for levels in LEVELS:
            cases = [(data, target, levels, seed) for seed in range(SEEDS)]
            once, fixed, adaptive, few, many = np.mean(_all(noisy_scale_run, cases), axis=0)
            worst = max(worst, adaptive - fixed)
            cells.append(f"{once:.3f}, {fixed:.3f}, {adaptive:.3f}")
            counts.append((few, many))
        few, many = np.mean(counts, axis=0)
        print(f"| {data} | {target} | " + " | ".join(cells) + f" | {few:.0f}, {many:.0f} |",
              flush=True)  # fmt: skip
    print(f"Adaptive beside repeated, at no more questions: worse by {worst:.4f} at most.\n")


def noisy_scale_run(data: str, target: str, levels: int, seed: int) -> tuple[float, ...]:
    """Errors asked once, repeated, adaptive; and the questions of one and of three askings."""
    X, U = target_of(data, target)
    oracle = oracles.QuantizedOracle(noisy(U, 0.1, seed), levels=levels)
    make = maker(X, U.shape[1], seed, levels=levels, noise="auto")
    once, fixed = run(make(), oracle), run(repeated(make(), 3), oracle)
    adaptive = run(repeated_adaptively(make, 3), oracle, budget=fixed.n_queries)
    errors = [error(U, result) for result in (once, fixed, adaptive)]
    return *errors, once.n_queries, fixed.n_queries


def hostility() -> None:
    """Table 6: one of ten annotators answers wrongly on purpose."""
    print(f"One of ten annotators hostile, three askings on average, {SEEDS} seeds: mean error; "
          "then the share of hostile answers flagged, and of honest ones:")  # fmt: skip
    print("| data | expert has in mind | sigma | clean | random | flipped "
          "| at their word, flipped | flagged, random | flipped |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    worst = -1.0
    for data, target in CASES:
        for sigma in (0.0, 0.1):
            cases = [(data, target, sigma, seed) for seed in range(SEEDS)]
            found = np.mean(_all(hostile_run, cases), axis=0)
            clean, random, flipped, word = found[:4]
            worst = max(worst, random - 1.5 * clean - 0.02, flipped - 1.5 * clean - 0.02)
            print(f"| {data} | {target} | {sigma:g} | {clean:.3f} | {random:.3f} | {flipped:.3f} | "
                  f"{word:.3f} | {found[4]:.0%}, {found[5]:.1%} | {found[6]:.0%}, {found[7]:.1%} |",
                  flush=True)  # fmt: skip
    print(f"Error less 1.5 x the clean one less .02: {worst:.3f} at most.\n")


def hostile_run(data: str, target: str, sigma: float, seed: int) -> tuple[float, ...]:
    """Errors with nobody hostile, with random and flipped answers; and who was flagged."""
    X, U = target_of(data, target)
    errors, flags = [], []
    for how in ("none", "random", "flipped"):
        asked = crowd(U, sigma, seed, how)
        plan = repeated_adaptively(maker(X, U.shape[1], seed, noise="auto"), 3)
        result = run(plan, asked)
        errors.append(error(U, result))
        if how != "none":
            who, U_found = asked.who_answered(result.history), result.clustering.memberships
            found = find_suspects(result.history, U_found, annotators=who.tolist())
            flags += [found.answers[who == 9].mean(), found.answers[who != 9].mean()]
    word = error(U, run(maker(X, U.shape[1], seed)(), crowd(U, sigma, seed, "flipped")))
    return *errors, word, *(float(flag) for flag in flags)


def hostile_similarities() -> None:
    """Table 7: the same when pairs and triplets are asked."""
    print("The same, asked about similarities (repeats=3), fuzzy targets, 3 seeds:")
    print("| data | ask | sigma | clean | random | flipped | questions |")
    print("|---|---|---|---|---|---|---|")
    worst = -1.0
    for data in ("Iris", "Wine"):
        for ask in ("similarity", "pairwise"):
            for sigma in (0.0, 0.1):
                cases = [(data, ask, sigma, seed) for seed in range(3)]
                clean, random, flipped, count = np.mean(_all(similar_run, cases), axis=0)
                worst = max(worst, max(random, flipped) - 1.5 * clean - 0.02)
                print(f"| {data} | {ask} | {sigma:g} | {clean:.3f} | {random:.3f} | {flipped:.3f} "
                      f"| {count:.0f} |", flush=True)  # fmt: skip
    print(f"Error less 1.5 x the clean one less .02: {worst:.3f} at most.\n")


def similar_run(data: str, ask: str, sigma: float, seed: int) -> tuple[float, ...]:
    """Errors with nobody hostile, with random and flipped answers; questions with the last."""
    X, U = target_of(data, "FCM")
    errors, count = [], 0
    for how in ("none", "random", "flipped"):
        model = ActiveFuzzyKMeans(
            U.shape[1], oracle=crowd(U, sigma, seed, how), ask=ask, repeats=3, random_state=seed
        ).fit(X)
        errors.append(metrics.membership_error(U, model.memberships_, how="mean"))
        count = model.n_queries_
    return *errors, count


def theorem_10() -> None:
    """Table 8: the whole solver repeated, beside repeated questions, at equal budgets."""
    print(f"Five askings: Theorem 10 (the solver five times) and single questions, {SEEDS} seeds:")
    print("| data | expert has in mind | sigma | solver, mean | solver, median "
          "| questions, at their word | questions, fitted |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for data, target in CASES:
        for sigma in (0.1, 0.2):
            cases = [(data, target, sigma, seed) for seed in range(SEEDS)]
            cells = [f"{value:.3f}" for value in np.mean(_all(solver_run, cases), axis=0)]
            print(f"| {data} | {target} | {sigma:g} | " + " | ".join(cells) + " |", flush=True)
    print()


def solver_run(data: str, target: str, sigma: float, seed: int) -> tuple[float, ...]:
    """Errors: Theorem 10 with two averages, repeated questions with a plain and a fitting plan."""
    X, U = target_of(data, target)
    oracle, k = noisy(U, sigma, seed), U.shape[1]
    per_query = repeated(plain(maker(X, k, seed)()), 5)
    fitted = run(repeated(maker(X, k, seed)(), 5), oracle)
    budget = fitted.n_queries
    mean = run(repeated_solver(maker(X, k, seed), X, 5, batches=1), oracle, budget=budget)
    medians = run(repeated_solver(maker(X, k, seed), X, 5), oracle, budget=budget)
    word = run(per_query, oracle, budget=budget)
    return error(U, mean), error(U, medians), error(U, word), error(U, fitted)


def plain(plan: Plan) -> Plan:
    """A plan that sees averages only, not what was averaged."""
    try:
        queries = next(plan)
        while True:
            try:
                answers = yield queries
            except StopAsking as stop:
                stop_plan(plan, np.array(stop.answers))
            queries = plan.send(np.array(answers))
    except StopIteration as end:
        clustering: Clustering = end.value
        return clustering


def centers() -> None:
    """Table 9: centres from a power of noisy answers, as they are and with the bias taken off."""
    print("Distance of centres to the target's, in spreads of the data; every item asked, "
          f"sigma .2, {SEEDS} seeds: raw power, mended, exact answers:")  # fmt: skip
    print("| data | fuzzifier 1.5 | 2 | 3 |")
    print("|---|---|---|---|")
    for data in DATA:
        cells = []
        for fuzzifier in (1.5, 2.0, 3.0):
            found = _all(center_run, [(data, fuzzifier, seed) for seed in range(SEEDS)])
            cells.append("{:.3f}, {:.3f}, {:.3f}".format(*np.mean(found, axis=0)))
        print(f"| {data} | " + " | ".join(cells) + " |", flush=True)
    print()


def center_run(data: str, fuzzifier: float, seed: int) -> tuple[float, float, float]:
    """Centre errors from a large sample: raw, mended, exact."""
    X, _ = target_of(data, "FCM")
    k = DATA[data][1]
    model = FuzzyKMeans(k, fuzzifier=fuzzifier, n_init=5, random_state=0).fit(X)
    U = model.memberships_.astype(np.float64)
    truth = weighted_centers(X, U, fuzzifier)
    spread = float(np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean()))
    errors = []
    for sigma in (0.2, 0.0):
        draft = Draft(
            ArrayItems(X), k, fuzzifier=fuzzifier, order="relative", faithful=False,
            rng=np.random.default_rng(seed), roughness=Roughness(noise=sigma),
        )  # fmt: skip
        _drive(draft.sample_rows(8 * len(X), every_cluster=True), noisy(U, sigma, seed))
        draft.estimates = [draft.sampled(j) for j in range(k)]
        errors.append(_off(draft, truth) / spread)
        if sigma > 0.0:
            fit_draft(draft)
            errors.append(_off(draft, truth) / spread)
    return errors[0], errors[1], errors[2]


def _off(draft: Draft, truth: Floats) -> float:
    """The mean distance of the draft's centres to the truth."""
    found = np.array([estimate.center for estimate in draft.estimates if estimate is not None])
    return float(np.linalg.norm(found - truth, axis=1).mean())


def _drive(asking: Any, oracle: Oracle, times: int = 1) -> Any:
    """Answer a part of a plan, each question so many times; what it returns."""
    try:
        queries = next(asking)
        while True:
            each = [
                oracle.answer(with_repeat(queries, np.full(len(queries), time)))
                for time in range(times)
            ]
            queries = asking.send(Averaged(np.mean(each, axis=0), np.array(each)))
    except StopIteration as end:
        return end.value


def _all(function: Callable[..., Any], cases: list[tuple[Any, ...]]) -> list[Any]:
    """What a function makes of every case, on every core."""
    with ProcessPoolExecutor(initializer=_set_up) as pool:
        return list(pool.map(function, *zip(*cases, strict=True)))


def _set_up() -> None:
    """One thread in each process: small matrices gain nothing from more, and would wait for it."""
    warnings.simplefilter("ignore")
    threadpool_limits(1)


if __name__ == "__main__":
    main()
