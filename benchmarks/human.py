"""Answers that people gave: soft labels by many raters, and intents of short texts.

    python benchmarks/human.py FOLDER [--seeds 10]

FOLDER holds arrays that anybody can make from public data:
ldl_NAME.npz with X and U: sets of label-distribution learning (M2B, SJAFFE, Painting, Yeast_spo5)
from the repository SpriteMisaka/PyLDL, features standardised and cut to 60 principal components;
bank_texts.npz with X and y: 500 French questions on bank cards in 10 intents, from the repository
cognitivefactory/interactive-clustering-comparative-study, as TF-IDF along 60 singular vectors.

One card is one item, whose whole row is told. The error is the mean absolute error of memberships,
over all items; rivals on random rows are told as many.
"""

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.metrics import v_measure_score
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from askmeans import oracles
from askmeans.fuzzy.arrays import onto_simplex
from label_rivals import told_labels
from labels import after_cards

Floats = NDArray[np.float64]
ROWS = (20, 50, 100)
CARDS = (60, 80, 100, 110, 150)


def mean_row(X: Floats, asked: NDArray[np.intp], U: Floats) -> Floats:  # noqa: ARG001 - as others
    """The mean of the told rows, for everybody."""
    return np.repeat(U.mean(axis=0)[None], len(X), axis=0)


def ridge(X: Floats, asked: NDArray[np.intp], U: Floats) -> Floats:
    """Ridge regression, its strength by leaving one out."""
    model = RidgeCV(alphas=np.logspace(-1, 4, 11)).fit(X[asked], U)
    return onto_simplex(np.asarray(model.predict(X)))


def neighbours(X: Floats, asked: NDArray[np.intp], U: Floats) -> Floats:
    """The mean of the five nearest told rows."""
    return np.asarray(KNeighborsRegressor(5).fit(X[asked], U).predict(X))


RIVALS: dict[str, Callable[[Floats, NDArray[np.intp], Floats], Floats]] = {
    "mean row": mean_row,
    "ridge": ridge,
    "neighbours": neighbours,
}


def label_distributions(folder: Path, seeds: int) -> None:
    """Errors on soft labels, beside rivals on random rows."""
    lines = []
    for path in sorted(folder.glob("ldl_*.npz")):
        data = np.load(path)
        X, U = data["X"].astype(np.float64), data["U"].astype(np.float64)
        U /= U.sum(axis=1, keepdims=True)
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(X))
            oracle = oracles.TableOracle(U[order])
            found = {
                ("askmeans", rows): clustering.memberships
                for rows, _, clustering in after_cards(X[order], oracle, seed, ROWS)
            }
            for rows in ROWS:
                asked = np.arange(rows)  # of a random order
                for name, predict in RIVALS.items():
                    found[name, rows] = predict(X[order], asked, U[order[asked]])
                    found[name, rows][asked] = U[order[asked]]
            for (name, rows), V in found.items():
                lines.append((path.stem[4:], rows, name, float(np.abs(V - U[order]).mean())))
    table = pd.DataFrame(lines, columns=["set", "rows", "method", "error"])
    cells = table.pivot_table(index=["set", "rows"], columns="method", values="error")
    cells["ratio"] = cells["askmeans"] / cells[list(RIVALS)].min(axis=1)
    print(f"\nLabel distributions, mean error over {seeds} seeds")
    print(cells.round(4).to_string())
    ratio = cells["ratio"]
    print(f"askmeans / best of {', '.join(RIVALS)}: {ratio.mean():.3f} on average (bar .97), "
          f"{ratio.max():.3f} at most (bar 1.03)")  # fmt: skip


def bank_texts(folder: Path, seeds: int) -> None:
    """V-measure of intents, beside logistic regression by margin."""
    data = np.load(folder / "bank_texts.npz")
    X, y = data["X"].astype(np.float64), data["y"].astype(np.intp)
    lines = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(X))
        A, z = X[order], y[order]
        for cards, _, found in after_cards(A, oracles.TableOracle.from_labels(z), seed, CARDS):
            labels = found.memberships.argmax(axis=1)
            lines.append((cards, "askmeans", v_measure_score(z, labels)))
        for cards, labels in told_labels(
            "logistic", A, z, by_margin=True, seed=seed, budgets=CARDS
        ):
            lines.append((cards, "logistic, margin", v_measure_score(z, labels)))
    table = pd.DataFrame(lines, columns=["cards", "method", "V-measure"])
    print(f"\nBank texts, V-measure over {seeds} seeds (bar: .90 with at most 110 cards)")
    print(table.pivot_table(index="method", columns="cards", values="V-measure").round(3))


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bank_texts(args.folder, args.seeds)
        label_distributions(args.folder, args.seeds)


if __name__ == "__main__":
    main()
