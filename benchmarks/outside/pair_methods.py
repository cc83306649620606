"""Methods that ask whether two items are of one group."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from askmeans import ActiveFuzzyKMeans, Stratified
from askmeans.driver import Oracle
from askmeans.queries import Queries

from .protocol import ByQuery, Method, Task

Floats = NDArray[np.float64]


class AskMeans(ByQuery):
    """The default strategy, which asks on however sure it is."""

    def solve(self, task: Task) -> Floats:
        """Fit with an oracle that passes questions on."""
        ask = {"pair": "pairwise", "item": "group", "row": "group"}[task.kind]
        model = ActiveFuzzyKMeans(
            task.n_clusters, oracle=_Asking(self, task.n_clusters), ask=ask, budget=task.budget,
            strategy=Stratified(precision=1e-9, max_items=None), random_state=task.seed,
        ).fit(task.X, examples=task.examples)  # fmt: skip
        return np.asarray(model.memberships_)


class _Asking(Oracle):
    """The protocol's answers, as an oracle of askmeans."""

    def __init__(self, method: ByQuery, n_clusters: int) -> None:
        self.method, self.n_clusters = method, n_clusters

    def answer(self, queries: Queries) -> Floats:
        answers = [self.method.query(*items) for items in queries.item_table]
        if queries.kind == "group" and np.ndim(answers[0]) == 0:
            return np.eye(self.n_clusters)[answers]
        return np.array(answers, dtype=np.float64)


class COBRAS(ByQuery):
    """cobras_ts; its number of groups is its own."""

    def solve(self, task: Task) -> NDArray[Any]:
        vars(np)["int"] = int  # which numpy 2 no longer has
        from cobras_ts.cobras_kmeans import COBRAS_kmeans

        clustering, *_ = COBRAS_kmeans(task.X, self, task.budget).cluster()
        return np.array(clustering.construct_cluster_labeling())

    def query_points(self, i: int, j: int) -> bool:
        """Answer as its queriers do."""
        return bool(self.query(i, j))

    def continue_cluster_process(self) -> bool:
        """Go on until the budget is spent."""
        return True

    def update_clustering(self, clustering: Any) -> None:
        """Show nobody the clustering so far."""


class _Oracle:
    """An oracle as active-semi-supervised-clustering and scikit-query call it."""

    def __init__(self, method: ByQuery, spent: type[Exception]) -> None:
        self.method, self.spent, self.budget = method, spent, method.task.budget
        self.max_queries_cnt = self.budget
        self.links: dict[bool, list[tuple[int, int]]] = {True: [], False: []}

    def query(self, i: int, j: int) -> bool:
        """Answer, as long as the budget lasts."""
        if sum(map(len, self.links.values())) == self.budget:
            raise self.spent
        answer = bool(self.method.query(i, j))
        self.links[answer].append((i, j))
        return answer


def _mpckmeans(task: Task) -> Any:
    """MPCKMeans whose farthest pair is found by one matrix: the same, and possible on 1,000."""
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans

    class Faster(MPCKMeans):  # type: ignore[misc]  # untyped
        def _find_farthest_pairs_of_points(self, X: Floats, A: Floats) -> tuple[int, int, float]:
            D = cdist(X, X, "mahalanobis", VI=A) ** 2
            i, j = np.unravel_index(D.argmax(), D.shape)
            return int(max(i, j)), int(min(i, j)), float(D[i, j])

    return Faster(n_clusters=task.n_clusters, max_iter=10)


class MPCKMeansMinMax(ByQuery):
    """MPCKMeans with pairs by MinMax (active-semi-supervised-clustering)."""

    def solve(self, task: Task) -> NDArray[Any]:
        from active_semi_clustering.active.pairwise_constraints import MinMax
        from active_semi_clustering.active.pairwise_constraints.example_oracle import (
            MaximumQueriesExceeded,
        )

        chooser = MinMax(n_clusters=task.n_clusters)
        chooser.fit(task.X, oracle=_Oracle(self, MaximumQueriesExceeded))
        ml, cl = chooser.pairwise_constraints_
        return np.array(_mpckmeans(task).fit(task.X, ml=ml, cl=cl).labels_)


class MPCKMeansNPU(ByQuery):
    """MPCKMeans with pairs by NPU; hours on more than 400 items."""

    max_items = 400

    def solve(self, task: Task) -> NDArray[Any]:
        from active_semi_clustering.active.pairwise_constraints import NPU
        from active_semi_clustering.active.pairwise_constraints.example_oracle import (
            MaximumQueriesExceeded,
        )

        chooser = NPU(clusterer=_mpckmeans(task))
        chooser.fit(task.X, oracle=_Oracle(self, MaximumQueriesExceeded))
        ml, cl = chooser.pairwise_constraints_
        return np.array(_mpckmeans(task).fit(task.X, ml=ml, cl=cl).labels_)


class AIPC(ByQuery):
    """PCKMeans with pairs by AIPC (scikit-query).

    PCKMeans gets the answers alone: what AIPC infers from them contradicts them, and is refused.
    """

    def solve(self, task: Task) -> NDArray[Any]:
        import skquery.pairwise
        from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans
        from skquery.exceptions import EmptyBudgetError

        oracle = _Oracle(self, EmptyBudgetError)
        skquery.pairwise.AIPC().fit(task.X, oracle, n_clusters=task.n_clusters)
        model = PCKMeans(n_clusters=task.n_clusters)
        return np.array(model.fit(task.X, ml=oracle.links[True], cl=oracle.links[False]).labels_)


METHODS: dict[str, Callable[[Task], Method]] = {
    "askmeans": AskMeans,
    "COBRAS": COBRAS,
    "MPCKMeans, MinMax": MPCKMeansMinMax,
    "MPCKMeans, NPU": MPCKMeansNPU,
    "PCKMeans, AIPC": AIPC,
}
