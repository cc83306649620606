"""Calibration on real tables with class labels, of items without an answer, beside rivals.

    python benchmarks/calibration.py [--seeds 5] [--sets NAME ...] [--out FILE] [--methods NAME ...]

One answer is the class of one item. All figures but the number of wrong items are about items that
were not asked about. Rivals ask by margin. Log loss clips probabilities at 1e-15; the expected
calibration error (ECE) has 15 bins. Lines are kept in FILE as soon as they are known, and not
computed again. Needs what `benchmarks/labels.py` needs.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from askmeans import oracles
from askmeans.metrics.calibration import confidence_bins
from label_rivals import RIVALS, classifier, probabilities_after
from label_sets import load
from labels import after_cards, computed_lines, expected_beside_true

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
BUDGETS = (50, 100)
N_BINS = 15
LARGE = 300  # items without an answer, from which on the ECE of a single table is no chance
COMPARED = {
    "logistic C=1": RIVALS["logistic"],
    "logistic C=10": classifier(lambda: LogisticRegression(C=10.0, max_iter=500)),
    "LDA": RIVALS["LDA"],
    "forest": RIVALS["forest"],
}
METHODS = ("askmeans", *COMPARED)
GAPS = [f"gap_{number}" for number in range(N_BINS)]  # of each bin, (accuracy - confidence) * share
COLUMNS = (
    "set", "seed", "method", "answers", "unasked", "error", "log_loss", "brier", "ece", "over_95",
    "wrong", "expected_wrong", "low", "high", *GAPS,
)  # fmt: skip


def scores(proba: Floats, y: Labels) -> dict[str, float]:
    """Scores of the probabilities of items without an answer."""
    bins = confidence_bins(y, proba, n_bins=N_BINS)
    right = proba[np.arange(len(y)), y]
    return {
        "unasked": len(y),
        "error": float((proba.argmax(axis=1) != y).mean()),
        "log_loss": float(-np.log(np.maximum(right, 1e-15)).mean()),
        "brier": float(np.square(proba - np.eye(proba.shape[1])[y]).sum(axis=1).mean()),
        "ece": bins.error,
        "over_95": float((proba.max(axis=1) > 0.95).mean()),
        **dict(zip(GAPS, bins.gaps.tolist(), strict=True)),
    }


def measure(name: str, method: str, seed: int) -> Iterator[dict[str, object]]:
    """The scores after every budget that leaves half of the items without an answer."""
    X, y = load(name)
    budgets = tuple(budget for budget in BUDGETS if budget <= len(X) // 2)
    if method == "askmeans":
        for budget, asked, result in after_cards(
            X, oracles.TableOracle.from_labels(y), seed, budgets
        ):
            diagnostics = result.diagnostics
            assert diagnostics.expected_wrong_band is not None
            low, high = diagnostics.expected_wrong_band
            yield {
                "answers": budget,
                **scores(np.delete(result.memberships, asked, axis=0), np.delete(y, asked)),
                "wrong": int((result.memberships.argmax(axis=1) != y).sum()),
                "expected_wrong": diagnostics.expected_wrong,
                "low": low,
                "high": high,
            }
        return
    for budget, asked, shares in probabilities_after(
        COMPARED[method], X, y, by_margin=True, seed=seed, budgets=budgets
    ):
        proba = np.zeros((len(X), int(y.max()) + 1))  # classes that were not met have none
        if shares is None:
            proba[:, y[asked[0]]] = 1.0
        else:
            proba[:, : shares.shape[1]] = shares
        yield {"answers": budget, **scores(np.delete(proba, asked, axis=0), np.delete(y, asked))}


def print_tables(lines: pd.DataFrame) -> None:
    """Means over the tables, each of the same weight; log loss beside the best rival's."""
    numbers = ["unasked", "error", "log_loss", "brier", "ece", "over_95", *GAPS]
    cells = lines.groupby(["answers", "method", "set"])[numbers].mean()
    means = cells.groupby(["answers", "method"]).mean()
    large = cells[cells["unasked"] >= LARGE].groupby(["answers", "method"])["ece"].mean()
    table = means[["error", "log_loss", "brier"]].assign(
        ece_pooled=means[GAPS].abs().sum(axis=1), ece_large=large, over_95=means["over_95"]
    )
    seeds, sets = lines["seed"].nunique(), lines["set"].nunique()
    print(f"Items without an answer, means of {sets} tables, {seeds} seeds")
    print(table.round(3).to_string())
    losses = cells["log_loss"].unstack("method")
    rivals = [method for method in COMPARED if method in losses]
    if "askmeans" in losses and rivals:
        print("\nLog loss by table: askmeans, and the best rival")
        best = losses[rivals].min(axis=1)
        each = pd.DataFrame({"askmeans": losses["askmeans"], "best": best,
                             "method": losses[rivals].idxmin(axis=1)})  # fmt: skip
        print(each.round(3).to_string())
        for answers, part in each.groupby("answers"):
            ratio = part["askmeans"].mean() / part["best"].mean()
            print(f"{answers} answers: mean log loss / mean of the best by table: {ratio:.3f}")
        ratio = each["askmeans"].mean() / each["best"].mean()
        print(f"Both: {ratio:.3f}  (bar .65)")
    ours = lines[lines["method"] == "askmeans"]
    if len(ours):
        print_counts(ours)


def print_counts(ours: pd.DataFrame) -> None:
    """How near the expected number of wrong items is to the true one."""
    print("\nThe expected number of wrong items, of all items")
    for title, part in [(f"{a} answers", p) for a, p in ours.groupby("answers")] + [("All", ours)]:
        print(f"{title}: {expected_beside_true(part)}")


if __name__ == "__main__":
    print_tables(computed_lines(__doc__, "calibration.csv", COLUMNS, METHODS, measure))
