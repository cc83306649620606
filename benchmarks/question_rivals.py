"""What askmeans is compared with: items drawn at random and a model on their memberships, and kin.

Rivals, too, ask an item's most likely cluster first, and stop asking about an item when nothing of
its membership is left. What was answered stands in their result.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu
from sklearn.covariance import ledoit_wolf
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor, kneighbors_graph

from askmeans.fuzzy.arrays import keep_answers, onto_simplex
from askmeans.fuzzy.model import closed_form_memberships, squared_distances
from askmeans.policy.scales import UNASSIGNED_SUM
from question_targets import Target

__all__ = ["MODELS", "Snapshot", "margin_sampling", "random_items"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Model = Callable[[Floats, Rows, Floats], Floats]
NOTHING = UNASSIGNED_SUM  # what is left of a row and not asked about, as in our strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Memberships after so many questions about so many items."""

    questions: int
    items: int
    memberships: Floats


def logistic(X: Floats, rows: Rows, Y: Floats) -> Floats:
    """Multinomial logistic regression on soft labels: every item once for each cluster."""
    n, k = len(rows), Y.shape[1]
    weights = Y.T.ravel()
    used = weights > 0.0
    labels = np.repeat(np.arange(k), n)[used]
    if len(np.unique(labels)) == 1:
        one: Floats = np.eye(k)[np.full(len(X), labels[0])]
        return one
    model = LogisticRegression(max_iter=300)
    model.fit(np.tile(X[rows], (k, 1))[used], labels, sample_weight=weights[used])
    U = np.zeros((len(X), k))
    U[:, model.classes_] = model.predict_proba(X)
    return U


def neighbours(X: Floats, rows: Rows, Y: Floats) -> Floats:
    """The mean of the five nearest, by distance."""
    model = KNeighborsRegressor(min(5, len(rows)), weights="distance")
    found: Floats = onto_simplex(model.fit(X[rows], Y).predict(X))
    return found


def discriminant(X: Floats, rows: Rows, Y: Floats) -> Floats:
    """Linear discriminant analysis with Ledoit and Wolf's shrinkage, on soft labels."""
    mass = Y.sum(axis=0)
    there = np.flatnonzero(mass > 1e-9)
    means = (Y.T @ X[rows])[there] / mass[there, None]
    left = [np.sqrt(Y[:, [j]]) * (X[rows] - means[c]) for c, j in enumerate(there)]
    residuals = np.concatenate(left)
    residuals = residuals[np.abs(residuals).sum(axis=1) > 0.0]
    U = np.zeros((len(X), Y.shape[1]))
    if len(residuals) < 2:
        U[:, there] = closed_form_memberships(X, means, 2.0)
        return U
    covariance = ledoit_wolf(residuals, assume_centered=True)[0] * len(residuals) / len(rows)
    covariance += 1e-6 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    solved = np.linalg.solve(covariance, means.T)
    logits = X @ solved - 0.5 * (means.T * solved).sum(axis=0) + np.log(mass[there])
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    U[:, there] = odds / odds.sum(axis=1, keepdims=True)
    return U


def gaussian_process(X: Floats, rows: Rows, Y: Floats) -> Floats:
    """A Gaussian process with a fitted length, variance and noise, onto the simplex."""
    width = np.sqrt(X.shape[1]) * X.std()
    kernel = ConstantKernel(1.0) * RBF(width, (0.05 * width, 20.0 * width)) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, random_state=0)
    mean = Y.mean(axis=0)
    found: Floats = model.fit(X[rows], Y - mean).predict(X).reshape(-1, Y.shape[1]) + mean
    return onto_simplex(found)


def label_spreading(X: Floats, rows: Rows, Y: Floats) -> Floats:
    """scikit-learn's LabelSpreading (7 neighbours, alpha .2) with soft labels."""
    start = np.zeros((len(X), Y.shape[1]))
    start[rows] = Y
    spread = np.maximum(_spreading(X)(start), 0.0)
    total = spread.sum(axis=1, keepdims=True)
    shares: Floats = np.where(total > 1e-300, spread / np.maximum(total, 1e-300), 1.0 / Y.shape[1])
    return shares


_GRAPHS: dict[int, tuple[Floats, Callable[[Floats], Floats]]] = {}


def _spreading(X: Floats) -> Callable[[Floats], Floats]:
    """Solve (I - alpha S) F = Y; kept for the last data."""
    if id(X) not in _GRAPHS:
        _GRAPHS.clear()
        graph = csr_array(kneighbors_graph(X, min(7, len(X) - 1)))
        graph = graph.maximum(graph.T)
        root = diags_array(1.0 / np.sqrt(graph.sum(axis=1)))
        system = (eye_array(len(X)) - 0.2 * (root @ graph @ root)).tocsc()
        _GRAPHS[id(X)] = X, splu(system).solve
    return _GRAPHS[id(X)][1]


def nearest_centroid(X: Floats, rows: Rows, Y: Floats) -> Floats:
    """Centroids; the nearest where answers were hard, the closed form where they were soft."""
    mass = Y.sum(axis=0)
    there = np.flatnonzero(mass > 1e-9)
    means = (Y.T @ X[rows])[there] / mass[there, None]
    U = np.zeros((len(X), Y.shape[1]))
    if (Y.max(axis=1) > 0.995).all():
        U[np.arange(len(X)), there[squared_distances(X, means).argmin(axis=1)]] = 1.0
    else:
        U[:, there] = closed_form_memberships(X, means, 2.0)
    return U


MODELS: dict[str, Model] = {
    "logistic": logistic,
    "neighbours": neighbours,
    "shrunk LDA": discriminant,
    "Gaussian process": gaussian_process,
    "label spreading": label_spreading,
    "nearest centroid": nearest_centroid,
}


@dataclass(slots=True)
class _Asked:
    """Entry by entry, the most likely first."""

    target: Target
    questions: int = 0
    rows: list[int] = field(default_factory=list)
    told: list[Floats] = field(default_factory=list)

    def ask(self, item: int, likely: Floats) -> Iterator[None]:
        """Ask about an item until nothing of its row is left; one step a question."""
        row = np.full(len(likely), np.nan)
        self.rows.append(item)
        self.told.append(row)
        for cluster in np.argsort(-likely, kind="stable"):
            row[cluster] = self.target.memberships[item, cluster]
            self.questions += 1
            yield
            unknown = np.isnan(row)
            if unknown.sum() <= 1 or 1.0 - np.nansum(row) <= NOTHING:
                row[unknown] = max(0.0, 1.0 - np.nansum(row)) / max(1, unknown.sum())
                return

    def snapshot(self, model: Model) -> Snapshot:
        """The model on whole rows; what was answered stands."""
        told, rows = np.array(self.told), np.array(self.rows)
        whole = ~np.isnan(told).any(axis=1)
        n, k = self.target.memberships.shape
        U = np.full((n, k), 1.0 / k)
        if whole.any():
            U = model(self.target.X, rows[whole], told[whole])
        keep_answers(U, rows, told)
        return Snapshot(questions=self.questions, items=len(rows), memberships=U)


def random_items(
    target: Target, model: Model, budgets: tuple[int, ...], seed: int
) -> Iterator[Snapshot]:
    """Ask about items drawn at random, and let a model complete; one snapshot a budget."""
    rng = np.random.default_rng(seed)
    n, k = target.memberships.shape
    asked, likely = _Asked(target), np.full((n, k), 1.0 / k)
    waiting = list(budgets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learnt = 2.0
        for count, item in enumerate(rng.permutation(n)):
            if count > 1.2 * learnt:  # learn anew what is likely
                likely, learnt = asked.snapshot(model).memberships, count
            for _ in asked.ask(int(item), likely[item]):
                if waiting and asked.questions == waiting[0]:
                    yield asked.snapshot(model)
                    waiting.pop(0)
            if not waiting:
                return
        for _ in waiting:
            yield asked.snapshot(model)


def margin_sampling(target: Target, budgets: tuple[int, ...], seed: int) -> Iterator[Snapshot]:
    """scikit-activeml's margin sampling with logistic regression; hard labels only."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    X = target.X
    n, k = target.memberships.shape
    labels = np.full(n, np.nan)
    classes = list(range(k))
    model = SklearnClassifier(LogisticRegression(max_iter=200), classes=classes, random_state=seed)
    margin = UncertaintySampling(method="margin_sampling", random_state=seed)
    asked, waiting = _Asked(target), list(budgets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while waiting and len(asked.rows) < n:
            model.fit(X, labels)
            item = int(margin.query(X=X, y=labels, clf=model, fit_clf=False, batch_size=1)[0])
            likely = model.predict_proba(X[[item]])[0]
            for _ in asked.ask(item, likely):
                if waiting and asked.questions == waiting[0]:
                    yield asked.snapshot(logistic)
                    waiting.pop(0)
            labels[item] = target.memberships[item].argmax()
        for _ in waiting:
            yield asked.snapshot(logistic)
