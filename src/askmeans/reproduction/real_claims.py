"""The paper's sentences about real data: figures 2 and 3."""

import numpy as np

from askmeans.reproduction import fuzzifiers, real
from askmeans.reproduction.claims import (
    SEQUENTIAL,
    TWO_PHASE,
    Book,
    Claim,
    claim,
    furthest,
    same_cost,
)

__all__ = ["real_claims"]

SAME_ACCURACY = 0.05  # "comparable" accuracy: within so much
DRASTIC = 0.1  # "drastically": by at least so much
FEW = 50  # nu of "a few membership queries"
# Elements, features and classes, as the paper has them.
SHAPES = {"Iris": (150, 4, 3), "Wine": (178, 13, 3), "Breast Cancer": (569, 30, 2)}


def real_claims(book: Book) -> list[Claim]:
    """Every claim about real data, in the paper's order."""
    return [*_shapes(), *_accuracies(book), *_baselines(book), *_fuzzifier(book)]


def _shapes() -> list[Claim]:
    """How the data sets are described."""
    found = []
    for data, shape in SHAPES.items():
        X, y = real.load(data)
        apart = np.abs(np.subtract((*X.shape, len(np.unique(y))), shape)).max()
        found.append(
            claim("The {} dataset ({} elements, {} features, and {} classes).".format(data, *shape),
                  "real data", "largest difference from scikit-learn's data: 0",
                  [float(apart)], below=0.5)
        )  # fmt: skip
    return found


def _accuracies(book: Book) -> list[Claim]:
    """Figure 2: how accuracies compare and grow."""
    found = []
    for data in book.panels("figure_2"):
        xs = book.xs("figure_2", data, TWO_PHASE)
        curves = [c for c in book.curves("figure_2", data, "") if c.endswith("faithful")]
        first, last = xs[0], xs[-1]
        few = min(xs, key=lambda x: abs(x - FEW))
        found.append(
            same_cost(
                book, "figure_2", data, "", "nu",
                "... keeping the same query complexity for both algorithms.", f"figure 2, {data}",
            )
        )  # fmt: skip
        base = book.values("figure_2", data, "", TWO_PHASE, xs)
        for curve in curves[1:]:
            nu, apart = furthest(book.values("figure_2", data, "", curve, xs) - base, xs)
            found.append(
                claim("The performance of all algorithms are comparable.", f"figure 2, {data}",
                      f"accuracy, {curve} minus {TWO_PHASE}, where they differ most (nu = {nu:g}): "
                      "within 0.05", apart, above=-SAME_ACCURACY, below=SAME_ACCURACY)
            )  # fmt: skip
        for curve in curves:
            for begin in dict.fromkeys((first, few)):
                pair = book.values("figure_2", data, "", curve, [begin, last])
                found.append(
                    claim("The accuracy increases as a function of the number of queries.",
                          f"figure 2, {data}; {curve}",
                          f"accuracy at nu = {last:g} minus at nu = {begin:g}: above 0",
                          pair[:, 1] - pair[:, 0], above=0.0)
                )  # fmt: skip
    return found


def _baselines(book: Book) -> list[Claim]:
    """What fuzzy k-means by itself reaches, and what asking adds."""
    found = []
    for data in book.panels("figure_2"):
        printed = real.PAPER_BASELINE[data]
        matched = book.get("figure_2", data, "", real.MATCHED, 0.0).values
        unmatched = book.get("figure_2", data, "", real.UNMATCHED, 0.0).values
        xs = book.xs("figure_2", data, TWO_PHASE)
        few = min(xs, key=lambda x: abs(x - FEW))
        asked = book.values("figure_2", data, "", TWO_PHASE, [few])[:, 0]
        found += [
            claim(f"Fuzzy C-means gets an accuracy of only {printed:.2%}.", f"figure 2, {data}",
                  "accuracy with clusters matched to classes: within 0.01 of it",
                  matched, above=printed - 0.01, below=printed + 0.01),
            claim(f"... {printed:.2%} (the same, clusters' numbers taken for classes).",
                  f"figure 2, {data}", "accuracy under one numbering: within 0.01 of it",
                  unmatched, above=printed - 0.01, below=printed + 0.01),
            claim("Using a few membership queries increases the accuracy drastically.",
                  f"figure 2, {data}",
                  f"accuracy of two-phase at nu = {few:g} minus that of fuzzy k-means, matched: "
                  "above 0.1", asked - np.mean(matched), above=DRASTIC),
        ]  # fmt: skip
    return found


def _fuzzifier(book: Book) -> list[Claim]:
    """Figure 3: whether the hard approach captures classes better."""
    found = []
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
            found.append(
                claim("A hard approach (alpha = 1) will capture this ground truth better.",
                      f"figure 3, {reading}; {curve}",
                      "accuracy at alpha = 1 minus at alpha = 2, all nu: above 0",
                      difference, above=0.0)
            )  # fmt: skip
    return found
