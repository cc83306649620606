"""Each sentence of the paper's experiments that can be checked, and the test applied to it.

Runs are paired: the same seed serves all algorithms at a point, so differences and ratios are taken
run by run and averaged before the interval is computed. Intervals are about the runs; the data of a
point is drawn once.
"""

import numpy as np

from experiments import beyond, fuzzifiers, real, synthetic
from experiments.claims import (
    SEQUENTIAL,
    TWO_PHASE,
    Book,
    Claim,
    Floats,
    claim,
    furthest,
    same_cost,
)

__all__ = ["all_claims"]

SMALL_BETA, LARGE_BETA = 13, 2  # zeta from, up to: beta at most .1, at least .57
SMALL_K, LARGE_K = 3, 8
NEAR = 1.25  # "comparable": within this factor
SAME_ACCURACY = 0.05  # "comparable" accuracy: within so much
DRASTIC = 0.1  # "drastically": by at least so much
FEW = 50  # nu of "a few membership queries"
# Elements, features and classes, as the paper has them.
SHAPES = {"Iris": (150, 4, 3), "Wine": (178, 13, 3), "Breast Cancer": (569, 30, 2)}
LIKELY = 0.9  # "with high probability": in more than this share of runs


def all_claims(book: Book) -> list[Claim]:
    """Every claim, in the paper's order; the last ones are from its appendices."""
    return [
        *_synthetic_setting(book),
        *_against_beta(book),
        *_against_questions(book),
        *_against_k(book),
        *_shapes(),
        *_accuracies(book),
        *_baselines(book),
        *_fuzzifier(book),
        *_appendices(book),
    ]


def _synthetic_setting(book: Book) -> list[Claim]:
    """The description of the data and the sizes."""
    claims = []
    for panel in book.panels("figure_1", "a")[:1]:
        xs = book.xs("figure_1", panel, TWO_PHASE)
        measured = book.values("figure_1", panel, "beta", "target", xs)[0]
        stated = 4.0 / (1.0 + 3.0 * np.array(xs))
        worst = float(np.abs(measured / stated - 1.0).max())
        claims.append(
            claim("It can be checked that beta = 4 / (1 + 3 zeta).", "synthetic data",
                  "largest relative difference over zeta, below 5 %", [worst], below=0.05)
        )  # fmt: skip
    claims += [
        same_cost(
            book, "figure_1", panel, synthetic.PAPER, letter,
            "Setting the parameters in this way keeps the same query complexity for both "
            "algorithms.", f"figure 1{panel}",
        )
        for start, letter in (("a", "zeta"), ("c", "k"))
        for panel in book.panels("figure_1", start)
    ]  # fmt: skip
    return claims


def _against_beta(book: Book) -> list[Claim]:
    """Figure 1a, in both settings."""
    claims = []
    for panel in book.panels("figure_1", "a"):
        xs = book.xs("figure_1", panel, TWO_PHASE)
        small, large = [x for x in xs if x >= SMALL_BETA], [x for x in xs if x <= LARGE_BETA]
        for setting in (synthetic.PAPER, synthetic.EQUAL):
            where = f"figure 1{panel}; {setting}"
            claims += [
                claim("For small beta the sequential algorithm is significantly better.", where,
                      "centre error, sequential / two-phase, zeta >= 13: below 1",
                      _log_ratio(book, panel, setting, small), below=1.0, logs=True),
                claim("For larger beta they are comparable.", where,
                      "centre error, sequential / two-phase, zeta <= 2: within a factor of 1.25",
                      _log_ratio(book, panel, setting, large),
                      above=1 / NEAR, below=NEAR, logs=True),
                claim("The sequential algorithm exhibits more graceful dependency on beta.", where,
                      "exponent of 1 / beta in the centre error, two-phase minus sequential: "
                      "above 0",
                      _exponents(book, panel, setting, TWO_PHASE, xs)
                      - _exponents(book, panel, setting, SEQUENTIAL, xs), above=0.0),
            ]  # fmt: skip
    return claims


def _against_questions(book: Book) -> list[Claim]:
    """Figure 1b: the error falls."""
    claims = []
    for panel in book.panels("figure_1", "b"):
        xs = book.xs("figure_1", panel, TWO_PHASE)
        for curve in (TWO_PHASE, SEQUENTIAL):
            errors = np.log(book.values("figure_1", panel, synthetic.PAPER, curve, xs))
            n_questions = np.log(book.queries("figure_1", panel, synthetic.PAPER, curve, xs))
            claims.append(
                claim("The estimation error falls with the number of queries.",
                      f"figure 1{panel}; {curve}",
                      "exponent of the questions in the centre error: below 0",
                      _slopes(n_questions, errors), below=0.0)
            )  # fmt: skip
    return claims


def _against_k(book: Book) -> list[Claim]:
    """Figure 1c, in both settings."""
    claims = []
    for panel in book.panels("figure_1", "c"):
        xs = book.xs("figure_1", panel, TWO_PHASE)
        small, large = [x for x in xs if x <= SMALL_K], [x for x in xs if x >= LARGE_K]
        for setting in (synthetic.PAPER, synthetic.EQUAL):
            where = f"figure 1{panel}; {setting}"
            claims += [
                claim("The two-phase algorithm performs significantly better as k increases.",
                      where, "centre error, sequential / two-phase, k >= 8: above 1",
                      _log_ratio(book, panel, setting, large), above=1.0, logs=True),
                claim("The sequential algorithm works better for small k.", where,
                      "centre error, sequential / two-phase, k <= 3: below 1",
                      _log_ratio(book, panel, setting, small), below=1.0, logs=True),
            ]  # fmt: skip
    return claims


def _shapes() -> list[Claim]:
    """The description of the datasets."""
    claims = []
    for data, shape in SHAPES.items():
        X, y = real.load(data)
        difference = np.abs(np.subtract((*X.shape, len(np.unique(y))), shape)).max()
        claims.append(
            claim("The {} dataset ({} elements, {} features, and {} classes).".format(data, *shape),
                  "real data", "largest difference from scikit-learn's data: 0",
                  [float(difference)], below=0.5)
        )  # fmt: skip
    return claims


def _accuracies(book: Book) -> list[Claim]:
    """Figure 2: how accuracies compare and grow."""
    claims = []
    for data in book.panels("figure_2"):
        xs = book.xs("figure_2", data, TWO_PHASE)
        curves = [c for c in book.curves("figure_2", data, "") if c.endswith("faithful")]
        first, last = xs[0], xs[-1]
        few = min(xs, key=lambda x: abs(x - FEW))
        claims.append(
            same_cost(
                book, "figure_2", data, "", "nu",
                "... keeping the same query complexity for both algorithms.", f"figure 2, {data}",
            )
        )  # fmt: skip
        base = book.values("figure_2", data, "", TWO_PHASE, xs)
        for curve in curves[1:]:
            nu, differences = furthest(book.values("figure_2", data, "", curve, xs) - base, xs)
            claims.append(
                claim("The performance of all algorithms are comparable.", f"figure 2, {data}",
                      f"accuracy, {curve} minus {TWO_PHASE}, where they differ most (nu = {nu:g}): "
                      "within 0.05", differences, above=-SAME_ACCURACY, below=SAME_ACCURACY)
            )  # fmt: skip
        for curve in curves:
            for begin in dict.fromkeys((first, few)):
                pair = book.values("figure_2", data, "", curve, [begin, last])
                claims.append(
                    claim("The accuracy increases as a function of the number of queries.",
                          f"figure 2, {data}; {curve}",
                          f"accuracy at nu = {last:g} minus at nu = {begin:g}: above 0",
                          pair[:, 1] - pair[:, 0], above=0.0)
                )  # fmt: skip
    return claims


def _baselines(book: Book) -> list[Claim]:
    """The accuracy of fuzzy k-means without questions, and the gain from questions."""
    claims = []
    for data in book.panels("figure_2"):
        printed = real.PAPER_BASELINE[data]
        matched = book.get("figure_2", data, "", real.MATCHED, 0.0).values
        unmatched = book.get("figure_2", data, "", real.UNMATCHED, 0.0).values
        xs = book.xs("figure_2", data, TWO_PHASE)
        few = min(xs, key=lambda x: abs(x - FEW))
        accuracies = book.values("figure_2", data, "", TWO_PHASE, [few])[:, 0]
        claims += [
            claim(f"Fuzzy C-means gets an accuracy of only {printed:.2%}.", f"figure 2, {data}",
                  "accuracy with clusters matched to classes: within 0.01 of it",
                  matched, above=printed - 0.01, below=printed + 0.01),
            claim(f"... {printed:.2%} (the same, clusters' numbers taken for classes).",
                  f"figure 2, {data}", "accuracy under one numbering: within 0.01 of it",
                  unmatched, above=printed - 0.01, below=printed + 0.01),
            claim("Using a few membership queries increases the accuracy drastically.",
                  f"figure 2, {data}",
                  f"accuracy of two-phase at nu = {few:g} minus that of fuzzy k-means, matched: "
                  "above 0.1", accuracies - np.mean(matched), above=DRASTIC),
        ]  # fmt: skip
    return claims


def _fuzzifier(book: Book) -> list[Claim]:
    """Figure 3: whether the hard approach captures classes better."""
    claims = []
    for reading in (fuzzifiers.LABELS, fuzzifiers.FUZZY):
        hard, soft = 1.0, 2.0
        for curve in (TWO_PHASE, SEQUENTIAL):
            settings = book.settings("figure_3", reading, curve)
            difference = np.mean(
                [
                    np.subtract(
                        book.get("figure_3", reading, setting, curve, hard).values,
                        book.get("figure_3", reading, setting, curve, soft).values,
                    )
                    for setting in settings
                ],
                axis=0,
            )
            claims.append(
                claim("A hard approach (alpha = 1) will capture this ground truth better.",
                      f"figure 3, {reading}; {curve}",
                      "accuracy at alpha = 1 minus at alpha = 2, all nu: above 0",
                      difference, above=0.0)
            )  # fmt: skip
    return claims


def _appendices(book: Book) -> list[Claim]:
    """Claims without a figure: noise, similarities, and targets that no fit can know."""
    claims = []
    allowed = beyond.ETA + beyond.KAPPA
    for form in book.curves("theorem_10", "theorem 10", ""):
        runs = book.only("theorem_10", "theorem 10", form)
        centers = book.only("theorem_10", "theorem 10, centres", form)
        where = f"noise, the solver run {runs.x:g} times ({form})"
        claims += [
            claim("Theorem 10: with repetitions, memberships are found within epsilon_2 + kappa.",
                  where,
                  "share of runs whose largest membership error is at most "
                  f"{allowed:g} (sigma = kappa = eta = 0.1): above {LIKELY:g}",
                  [float(error <= allowed) for error in runs.values], above=LIKELY, shares=True),
            claim("Theorem 10: ... and centres within 2 R alpha (epsilon_2 + kappa) / rho.",
                  where,
                  f"share of runs whose largest centre error is at most that: above {LIKELY:g}",
                  [float(error <= 1.0) for error in centers.values], above=LIKELY, shares=True),
        ]  # fmt: skip
    for data in book.panels("similarity"):
        xs = book.xs("similarity", data, "membership")
        by_membership = book.values("similarity", data, "", "membership", xs).mean(axis=1)
        by_similarity = book.values("similarity", data, "", "similarity", xs).mean(axis=1)
        claims.append(
            claim("Membership queries can be simulated by similarity queries.",
                  f"similarity, {data}",
                  "mean membership error, by similarity minus by membership: within 0.01",
                  by_similarity - by_membership, above=-0.01, below=0.01)
        )  # fmt: skip
    for data in book.panels("hidden"):
        last = book.xs("hidden", data, "two-phase")[-1]
        errors = book.get("hidden", data, "", "two-phase", last).values
        alone = book.get("hidden", data, "", "no questions", last).values
        claims.append(
            claim("A few queries help where the clustering cannot be known from the data.",
                  f"hidden features, {data}",
                  f"mean membership error, two-phase with {last:g} questions minus no questions: "
                  "below 0", np.subtract(errors, alone), below=0.0)
        )  # fmt: skip
    return claims


def _log_ratio(book: Book, panel: str, setting: str, xs: list[float]) -> Floats:
    """The logarithm of sequential's error over two-phase's, averaged over x, run by run."""
    mine = np.log(book.values("figure_1", panel, setting, SEQUENTIAL, xs))
    theirs = np.log(book.values("figure_1", panel, setting, TWO_PHASE, xs))
    averaged: Floats = (mine - theirs).mean(axis=1)
    return averaged


def _exponents(book: Book, panel: str, setting: str, curve: str, xs: list[float]) -> Floats:
    """The exponent of 1 / beta in the error, run by run."""
    errors = np.log(book.values("figure_1", panel, setting, curve, xs))
    inverse = np.log((1.0 + 3.0 * np.array(xs)) / 4.0)
    return _slopes(np.broadcast_to(inverse, errors.shape), errors)


def _slopes(x: Floats, y: Floats) -> Floats:
    """The least-squares slope of each row."""
    x = x - x.mean(axis=1, keepdims=True)
    slopes: Floats = (x * y).sum(axis=1) / np.square(x).sum(axis=1)
    return slopes
