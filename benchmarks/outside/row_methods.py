"""Methods that ask of which group an item is, or which shares it has."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC

from askmeans.fuzzy.arrays import onto_simplex

from .pair_methods import AskMeans
from .protocol import Items, Method, Task

Floats = NDArray[np.float64]


class _Rows:
    """Base of what follows: answered items and what was said of them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.rng = np.random.default_rng(task.seed)
        self.items: list[int] = []
        self.answers: list[Any] = []

    def tell(self, items: Items, answer: Any) -> None:
        self.items.append(items[0])
        self.answers.append(answer)

    @property
    def left(self) -> NDArray[np.intp]:
        """Items without an answer."""
        return np.setdiff1d(np.arange(len(self.task.X)), self.items)

    def ask(self) -> Items:
        """Return an item drawn at random."""
        return (int(self.rng.choice(self.left)),)


class Margin(_Rows):
    """A classifier of scikit-learn that asks about the item whose two likeliest groups are closest.

    The first items are random, as long as all answers and names are of one group.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.proba: Floats | None = None

    def make(self) -> Any:
        """Return a new classifier."""
        return LogisticRegression(C=10.0, max_iter=500)

    def probabilities(self, model: Any) -> Floats:
        """Return the fitted classifier's probabilities of the groups that it has seen."""
        return np.asarray(model.predict_proba(self.task.X))

    def training(self) -> tuple[Floats, NDArray[np.intp]]:
        """Names of the groups, where there are any, and all answers."""
        X, y = self.task.X[self.items], np.array(self.answers, dtype=np.intp)
        if self.task.examples is not None:
            X, y = np.vstack([self.task.examples[0], X]), np.append(self.task.examples[1], y)
        return X, y

    def learn(self) -> Floats | None:
        """Probabilities of all groups; None as long as one group is all that is known."""
        X, y = self.training()
        if len(np.unique(y)) < 2:
            return None
        model = self.make().fit(X, y)
        proba = np.zeros((len(self.task.X), self.task.n_clusters))
        proba[:, model.classes_] = self.probabilities(model)
        return proba

    def ask(self) -> Items:
        proba = self.learn()
        if proba is None:
            return super().ask()
        top = np.sort(proba[self.left], axis=1)
        return (int(self.left[np.argmin(top[:, -1] - top[:, -2])]),)

    def result(self) -> Floats:
        proba = self.learn()
        one = np.eye(self.task.n_clusters)[self.answers[:1] * len(self.task.X)]
        return one if proba is None else proba


class SVM(Margin):
    """A linear support vector machine; its probabilities are the softmax of its decisions."""

    def make(self) -> Any:
        return LinearSVC(C=1.0)

    def probabilities(self, model: Any) -> Floats:
        decisions = model.decision_function(self.task.X)
        if decisions.ndim == 1:
            decisions = np.column_stack([-decisions, decisions])
        return np.asarray(softmax(decisions, axis=1))


class SmallText(Margin):
    """small-text: breaking ties by logistic regression, after ten random items."""

    def ask(self) -> Items:
        from small_text import BreakingTies, SklearnClassifier, SklearnDataset

        X, y = self.training()
        if len(self.items) < 10 or len(np.unique(y)) < 2:
            return super(Margin, self).ask()
        classes, numbers = np.unique(y, return_inverse=True)
        model = SklearnClassifier(self.make(), len(classes))
        model.fit(SklearnDataset(X, numbers))
        pool = SklearnDataset(self.task.X, np.zeros(len(self.task.X), dtype=np.intp))
        known = np.array(self.items)
        queried = BreakingTies().query(model, pool, self.left, known, np.array(self.answers), n=1)
        return (int(queried[0]),)


class TypiClust(Margin):
    """scikit-activeml's TypiClust (typical items of clusters without an answer), and logistic.

    Its margin sampling with the same classifier asks and predicts as `Margin` does.
    """

    def ask(self) -> Items:
        from skactiveml.pool import TypiClust as Strategy

        X, y = self.training()
        n_names = len(X) - len(self.items)
        pool = np.vstack([X[:n_names], self.task.X])
        labels = np.append(y[:n_names].astype(np.float64), np.full(len(self.task.X), np.nan))
        labels[n_names + np.array(self.items, dtype=np.intp)] = self.answers
        strategy = Strategy(random_state=self.task.seed + len(self.items))
        return (int(strategy.query(pool, labels, batch_size=1)[0]) - n_names,)


class MeanRow(_Rows):
    """The mean of the answered rows, for all items."""

    def result(self) -> Floats:
        U = self.predict(np.array(self.answers))
        U[self.items] = self.answers
        return U

    def predict(self, U: Floats) -> Floats:
        """Shares of all items by those of the answered ones."""
        return np.repeat(U.mean(axis=0)[None], len(self.task.X), axis=0)


class Ridge(MeanRow):
    """Ridge regression, its strength by leaving one out."""

    def predict(self, U: Floats) -> Floats:
        model = RidgeCV(alphas=np.logspace(-1, 4, 11)).fit(self.task.X[self.items], U)
        return onto_simplex(np.asarray(model.predict(self.task.X)))


class Neighbours(MeanRow):
    """The mean of the five nearest answered rows."""

    def predict(self, U: Floats) -> Floats:
        model = KNeighborsRegressor(5).fit(self.task.X[self.items], U)
        return np.asarray(model.predict(self.task.X))


CARDS: dict[str, Callable[[Task], Method]] = {
    "askmeans": AskMeans,
    "logistic regression, margin": Margin,
    "linear SVM, margin": SVM,
    "small-text, breaking ties": SmallText,
    "scikit-activeml, TypiClust": TypiClust,
}
SOFT: dict[str, Callable[[Task], Method]] = {
    "askmeans": AskMeans,
    "mean row": MeanRow,
    "ridge": Ridge,
    "neighbours": Neighbours,
}
