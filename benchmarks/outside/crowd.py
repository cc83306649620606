"""Groups from pairs that a crowd answered, most of them badly: nobody is asked anything more."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, logit
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
    return _spectral(edges[:, :2], edges[:, 2].astype(np.float64), n, k, seed)


def dawid_skene(edges: Rows, n: int, k: int, seed: int) -> Rows:
    """The same of each pair's probability, every worker weighted by agreement with the others.

    Dawid and Skene's model with one rate of right answers for each worker.
    """
    pairs, which = np.unique(np.sort(edges[:, :2], axis=1), axis=0, return_inverse=True)
    which, said, who = which.ravel(), 2.0 * edges[:, 2] - 1.0, edges[:, 3]
    counts = np.bincount(who)
    right, share = np.full(len(counts), 0.7), edges[:, 2].mean()
    for _ in range(50):
        weight = np.log(right / (1.0 - right))
        same = expit(logit(share) + np.bincount(which, weight[who] * said))
        agreed = np.bincount(who, np.where(said > 0.0, same[which], 1.0 - same[which]))
        right, share = (agreed + 3.5) / (counts + 5.0), same.mean()
    return _spectral(pairs, same, n, k, seed)


def _spectral(pairs: Rows, value: NDArray[np.float64], n: int, k: int, seed: int) -> Rows:
    """Spectral clustering by the mean value of each pair."""
    both = np.append(pairs[:, 0], pairs[:, 1]), np.append(pairs[:, 1], pairs[:, 0])
    total, asked = np.zeros((n, n)), np.zeros((n, n))
    np.add.at(total, both, np.tile(value, 2))
    np.add.at(asked, both, 1.0)
    graph = total / np.maximum(asked, 1.0) + 1e-3  # connected
    model = SpectralClustering(k, affinity="precomputed", random_state=seed)
    return np.asarray(model.fit_predict(graph))


def correlation(edges: Rows, n: int, k: int, seed: int) -> Rows:
    """Correlation clustering: items move to the group that agrees best with the answers."""
    rng = np.random.default_rng(seed)
    both = np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]]
    # "Same" counts as much in all as "different" does, which is more frequent.
    share = edges[:, 2].mean()
    said = np.where(edges[:, 2] == 1, 1.0 - share, -share)
    W = csr_array((np.tile(said, 2), both), shape=(n, n))
    best, least = np.zeros(n, dtype=np.intp), -np.inf
    for _ in range(20):
        labels = rng.integers(k, size=n)
        for _ in range(30):
            before = labels.copy()
            for item in rng.permutation(n):
                start, end = W.indptr[item], W.indptr[item + 1]
                votes = np.bincount(labels[W.indices[start:end]], W.data[start:end], k)
                labels[item] = votes.argmax()
            if (labels == before).all():
                break
        agreement = float(W.multiply(labels[:, None] == labels).sum())
        if agreement > least:
            best, least = labels, agreement
    return best


METHODS: dict[str, Method] = {
    "askmeans, with annotators": with_annotators,
    "askmeans, answers averaged": averaged,
    "spectral clustering": spectral,
    "Dawid-Skene, then spectral": dawid_skene,
    "correlation clustering": correlation,
}
