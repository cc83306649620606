"""Rivals that are told whole labels: a classifier that picks items by margin, or at random.

Each is right on what it was told, starts with random items until a class comes twice, and picks
new ones five at a time.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

__all__ = ["RIVALS", "classifier", "probabilities_after", "told_labels", "unsupervised"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Predict = Callable[[Floats, Labels, Labels], Floats]  # X, asked rows, their labels -> shares
STEP = 5


def classifier(make: Callable[[], object]) -> Predict:
    """A classifier of scikit-learn as a function of the labels."""

    def predict(X: Floats, asked: Labels, told: Labels) -> Floats:
        model = make().fit(X[asked], told)  # type: ignore[attr-defined]  # an estimator
        shares = np.zeros((len(X), int(told.max()) + 1))
        shares[:, model.classes_] = model.predict_proba(X)
        return shares

    return predict


def _spreading(X: Floats, asked: Labels, told: Labels) -> Floats:
    """Label spreading over ten neighbours."""
    y = np.full(len(X), -1)
    y[asked] = told
    model = LabelSpreading(kernel="knn", n_neighbors=10, max_iter=100).fit(X, y)
    shares = np.zeros((len(X), int(told.max()) + 1))
    shares[:, model.classes_] = np.nan_to_num(model.label_distributions_)
    return shares


RIVALS: dict[str, Predict] = {
    "logistic": classifier(lambda: LogisticRegression(C=1.0, max_iter=500)),
    "LDA": classifier(lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    "forest": classifier(lambda: RandomForestClassifier(100, random_state=0)),
    "spreading": _spreading,
}


def probabilities_after(
    predict: Predict, X: Floats, y: Labels, *, by_margin: bool, seed: int, budgets: tuple[int, ...]
) -> Iterator[tuple[int, Labels, Floats | None]]:
    """After each budget: the items asked about, and a rival's probabilities (None: one class)."""
    rng = np.random.default_rng(seed)
    asked = list(rng.choice(len(X), size=2, replace=False))
    shares: Floats | None = None
    for budget in sorted(b for b in budgets if b <= len(X)):
        while len(asked) < budget:
            left = np.setdiff1d(np.arange(len(X)), asked)
            step = min(STEP, budget - len(asked))
            if shares is None or not by_margin:
                asked += rng.choice(left, size=step, replace=False).tolist()
            else:
                top = np.sort(np.c_[shares, np.zeros(len(X))], axis=1)[left]
                asked += left[np.argsort(top[:, -1] - top[:, -2], kind="stable")[:step]].tolist()
            labels = y[asked]
            if 1 < len(np.unique(labels)) < len(labels) and (by_margin or len(asked) == budget):
                shares = predict(X, np.array(asked), labels)
        yield budget, np.array(asked), shares


def told_labels(
    name: str, X: Floats, y: Labels, *, by_margin: bool, seed: int, budgets: tuple[int, ...]
) -> Iterator[tuple[int, Labels]]:
    """Labels of all items after each budget."""
    for budget, asked, shares in probabilities_after(
        RIVALS[name], X, y, by_margin=by_margin, seed=seed, budgets=budgets
    ):
        labels = np.full(len(X), y[asked[0]]) if shares is None else shares.argmax(axis=1)
        labels[asked] = y[asked]
        yield budget, labels


def unsupervised(X: Floats, y: Labels, seed: int) -> Labels:
    """k-means, its clusters named for free."""
    k = int(y.max()) + 1
    found = KMeans(k, n_init=10, random_state=seed).fit_predict(X)
    counts = np.zeros((k, k))
    np.add.at(counts, (found, y), 1)
    rows, columns = linear_sum_assignment(-counts)
    names = np.empty(k, dtype=np.intp)
    names[rows] = columns
    return np.asarray(names[found])
