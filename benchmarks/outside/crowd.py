"""Groups from pairs that a crowd answered, most of them badly: nobody is asked anything more."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.cluster import SpectralClustering

from askmeans import ActiveFuzzyKMeans
from askmeans.queries import Answer

Rows = NDArray[np.intp]
Method = Callable[[Rows, int, int, int], Rows]  # edges, items, groups, seed -> labels
ANSWERS = (1000, 3000, 9000)


def with_annotators(edges: Rows, n: int, k: int, seed: int) -> Rows:
    """askmeans, by every answer and whose it is; the features are noise."""
    answers = [_answer(i, j, same, f"worker {who}") for i, j, same, who, *_ in edges.tolist()]
    return _fitted(answers, n, k, seed)


def averaged(edges: Rows, n: int, k: int, seed: int) -> Rows:
    """askmeans, by the mean answer to every pair, as if one person had said all."""
    pairs, which = np.unique(np.sort(edges[:, :2], axis=1), axis=0, return_inverse=True)
    means = np.bincount(which.ravel(), edges[:, 2]) / np.bincount(which.ravel())
    answers = [_answer(i, j, mean) for (i, j), mean in zip(pairs.tolist(), means, strict=True)]
    return _fitted(answers, n, k, seed)


def _answer(i: int, j: int, value: float, annotator: str = "me") -> Answer:
    return Answer(
        round=0, kind="pair", items=(i, j), cluster=None, repeat=0, value=float(value),
        annotator=annotator,
    )  # fmt: skip


def _fitted(answers: list[Answer], n: int, k: int, seed: int) -> Rows:
    X = np.random.default_rng(seed).normal(size=(n, 4))
    model = ActiveFuzzyKMeans(k, ask="pairwise", random_state=seed).fit(X, answers=answers)
    return np.asarray(model.labels_)


def spectral(edges: Rows, n: int, k: int, seed: int) -> Rows:
    """Spectral clustering of the graph whose edges are the shares of "same"."""
    both = np.append(edges[:, 0], edges[:, 1]), np.append(edges[:, 1], edges[:, 0])
    same, asked = np.zeros((n, n)), np.zeros((n, n))
    np.add.at(same, both, np.tile(edges[:, 2], 2))
    np.add.at(asked, both, 1.0)
    graph = same / np.maximum(asked, 1.0) + 1e-3  # connected
    model = SpectralClustering(k, affinity="precomputed", random_state=seed)
    return np.asarray(model.fit_predict(graph))


def correlation(edges: Rows, n: int, k: int, seed: int) -> Rows:
    """Correlation clustering: items move to the group that most answers are for."""
    return _correlation(edges, np.ones(len(edges)), n, k, seed)


def dawid_skene(edges: Rows, n: int, k: int, seed: int) -> Rows:
    """The same, in turn with one rate of right answers for each worker, who count by its log odds.

    Hardly any pair was asked twice: without groups nothing is known of the rates.
    """
    labels = correlation(edges, n, k, seed)
    for _ in range(5):
        right = (labels[edges[:, 0]] == labels[edges[:, 1]]) == edges[:, 2]
        counts = np.bincount(edges[:, 3])
        rates = (np.bincount(edges[:, 3], right) + 3.5) / (counts + 5.0)
        labels = _correlation(edges, np.maximum(logit(rates), 0.0)[edges[:, 3]], n, k, seed)
    return labels


def _correlation(edges: Rows, weight: NDArray[np.float64], n: int, k: int, seed: int) -> Rows:
    """The best of twenty local optima."""
    rng = np.random.default_rng(seed)
    both = np.append(edges[:, 0], edges[:, 1]), np.append(edges[:, 1], edges[:, 0])
    share = np.average(edges[:, 2], weights=weight)  # "same" counts as much as "different" in all
    said = weight * np.where(edges[:, 2] == 1, 1.0 - share, -share)
    graph = csr_array((np.tile(said, 2), both), shape=(n, n))
    best, most = np.zeros(n, dtype=np.intp), -np.inf
    for _ in range(20):
        labels = rng.integers(k, size=n)
        for _ in range(30):
            before = labels.copy()
            for item in rng.permutation(n):
                start, end = graph.indptr[item], graph.indptr[item + 1]
                votes = np.bincount(labels[graph.indices[start:end]], graph.data[start:end], k)
                labels[item] = votes.argmax()
            if (labels == before).all():
                break
        agreement = float(said @ (labels[edges[:, 0]] == labels[edges[:, 1]]))
        if agreement > most:
            best, most = labels, agreement
    return best


METHODS: dict[str, Method] = {
    "askmeans, with annotators": with_annotators,
    "askmeans, answers averaged": averaged,
    "spectral clustering": spectral,
    "correlation clustering": correlation,
    "correlation clustering, Dawid-Skene": dawid_skene,
}
