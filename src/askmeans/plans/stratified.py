"""Ask about items that stand for strata, complete by what the answers support, ask where unsure."""

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.completions.blend import Blend, blend
from askmeans.completions.closed_form import in_metric, local, local_centers, name_clusters, named
from askmeans.completions.discriminant import discriminant
from askmeans.completions.evidence import Evidence, Fitted
from askmeans.completions.graph import Graph, spread
from askmeans.completions.kernel import linear, smooth
from askmeans.completions.logistic import logistic
from askmeans.completions.mixture import mixture
from askmeans.completions.pool import Pool
from askmeans.exceptions import StopAsking
from askmeans.fuzzy.model import closed_form_memberships, weighted_centers
from askmeans.items import Items
from askmeans.plans.answers import Answers, Asking, Plan
from askmeans.plans.draft import keep_answers
from askmeans.plans.strata import Strata
from askmeans.results import Clustering

__all__ = ["stratified"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

import os
REST = float(os.environ.get("REST", 0.05))
GROWTH = float(os.environ.get("GROWTH", 0.3))
EXPLORE = float(os.environ.get("EXPLORE", 0.5))
CAUTION = float(os.environ.get("CAUTION", 2.0))
SKIP = os.environ.get("SKIP", "").split(",")


def stratified(
    items: Items,
    n_clusters: int,
    *,
    fuzzifier: float,
    precision: float,
    rng: np.random.Generator,
    watch: Any = None,
) -> Plan:
    """The plan; it ends when the estimated error is below the precision."""
    study = Study(items, n_clusters, fuzzifier, rng)
    complete = False
    try:
        while True:
            if not (yield from study.ask()):
                complete = True
                break
            study.learn()
            if watch is not None:
                watch(study)
            if study.settled(precision):
                complete = True
                break
    except StopAsking:
        study.learn()
    return study.finish(complete=complete)


class Study:
    """What has been asked, what was learnt from it, and what to ask next."""

    def __init__(
        self, items: Items, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> None:
        self.items = items
        self.k = n_clusters
        self.fuzzifier = fuzzifier
        self.pool = Pool(items, n_clusters, fuzzifier, rng)
        self.answers = Answers(n_clusters, faithful=False)
        self.strata = Strata(self.pool.Z)
        self.graph: Graph | None = None
        self.memory: dict[str, Any] = {}
        self.blend: Blend | None = None
        centers, alpha = self.pool.free
        self.free = closed_form_memberships(self.pool.X, centers, alpha)
        self.likely = self.free

    # ---- asking

    def asked(self) -> Rows:
        """Places in the pool of the items asked about."""
        return np.searchsorted(self.pool.rows, self.answers.items)

    def ask(self) -> Asking[bool]:
        """One round: what is still open of known rows, then new items; False if nothing is left."""
        asked, told = self.asked(), self.answers.values
        open_items = []
        for place, row in zip(asked.tolist(), told, strict=True):
            unknown = np.isnan(row)
            if unknown.any() and 1.0 - np.nansum(row) > REST:
                asked_now = {j for i, j in self.answers._asked if i == self.pool.rows[place]}
                candidates = [j for j in np.flatnonzero(unknown) if j not in asked_now]
                if candidates:
                    best = max(candidates, key=lambda j: self.likely[place, j])
                    open_items.append((place, best))
        count = max(self.k if not len(asked) else 2, math.ceil(GROWTH * len(asked)))
        if self.k > 2:
            count = max(count - len(open_items) // 2, min(count, 2))
        doubt = self.doubt()
        if len(asked):
            new = self.strata.choose(asked, doubt, count)
        else:
            new = np.unique(self.free.argmax(axis=0))
        pairs = open_items + [(int(i), int(self.likely[i].argmax())) for i in new]
        if not pairs:
            return False
        rows = self.pool.rows[[p for p, _ in pairs]]
        clusters = np.array([j for _, j in pairs], dtype=np.intp)
        yield from self.answers.ask(rows, clusters, "asking")
        return True

    def doubt(self) -> Floats:
        """How much asking about an item would tell."""
        n = len(self.pool)
        if self.blend is None:
            return np.ones(n)
        doubt = self.blend.doubt / max(self.blend.doubt.mean(), 1e-12)
        return (1.0 - EXPLORE) * doubt + EXPLORE

    # ---- learning

    def evidence(self) -> Evidence | None:
        """Rows that are known for the most part, the rest shared as is likely."""
        asked, told = self.asked(), self.answers.values
        known = ~np.isnan(told)
        value = np.clip(np.where(known, told, 0.0), 0.0, 1.0)
        mass = value.sum(axis=1)
        whole = known.all(axis=1)
        trust = np.where(whole, 1.0, np.minimum(mass, 1.0))
        some = trust > 0.3
        if not some.any():
            return None
        U = self.likely[asked].copy()
        keep_answers(U, np.arange(len(asked)), told)
        cells = self.strata.cells(asked)
        return Evidence.of(asked[some], U[some], trust[some], np.maximum(cells[some], 1.0))

    def learn(self) -> None:
        """Fit every completion to the answers, and weigh them."""
        asked = self.asked()
        names = name_clusters(self.free[asked], self.answers.values)
        guess = self.free[:, names]
        evidence = self.evidence()
        if evidence is None:
            self.likely = guess
            return
        fitted = self.completions(evidence)
        prior = np.array([3.0 if f.name in ("unsupervised",) else 1.0 for f in fitted])
        self.blend = blend(fitted, evidence, prior, CAUTION)
        self.likely = self.blend.pool
        unseen = ((evidence.trust @ evidence.Y) < 0.5).any()
        if unseen:
            self.likely = 0.5 * self.likely + 0.5 * guess

    def completions(self, evidence: Evidence) -> list[Fitted]:
        """Every completion, fitted."""
        pool = self.pool
        if self.graph is None:
            self.graph = Graph(pool)
        count = len(evidence.rows)
        if count >= 1.4 * self.memory.get("count", 0):
            self.memory["local"] = local_centers(pool, evidence)
            self.memory["count"] = count
            self.memory.pop("metric", None)
        fitted = [named(pool, evidence), local(pool, evidence, *self.memory["local"])]
        if len(evidence.rows) >= 3:
            fitted.append(discriminant(pool, evidence))
            fitted.append(smooth(pool, evidence))
            fitted.append(linear(pool, evidence))
            fitted.append(logistic(pool, evidence, looseness=1.0))
            fitted.append(spread(pool, evidence, self.graph))
        if len(evidence.rows) >= 5:
            fitted.append(logistic(pool, evidence, looseness=30.0))
            fitted.append(in_metric(pool, evidence, self.memory))
            errors = [np.abs(f.held_out - evidence.Y).mean() for f in fitted]
            fitted.append(mixture(pool, evidence, fitted[int(np.argmin(errors))].pool))
        return [f for f in fitted if f.name not in SKIP]

    # ---- ending

    def estimated_error(self) -> float:
        """The mean error of a membership, over all items."""
        if self.blend is None:
            return float("nan")
        open_ = np.ones(len(self.pool), dtype=bool)
        open_[self.asked()] = False
        share = 1.0 - len(self.answers.items) / self.items.n
        return float(self.blend.doubt[open_].mean() * share) if open_.any() else 0.0

    def estimates(self):
        """Alternatives."""
        b = self.blend
        if b is None: return {}
        open_ = np.ones(len(self.pool), dtype=bool)
        open_[self.asked()] = False
        share = 1.0 - len(self.answers.items) / self.items.n
        if not open_.any(): return {}
        e, ev = b.errors, b.evidence
        out = {"ratio": float(b.doubt[open_].mean() * share)}
        for p in (0.0, .5, 1.0):
            w = ev.trust * ev.cells**p
            out[f"cv{p}"] = float(w @ e / w.sum()) * share
        for p in (0.0,.5,1.0):
            w = ev.trust * ev.cells**p
            # post-stratify on suspicion: bins by quantile of the open items' suspicion
            s_open, s_out = b.suspicion[open_], b.suspicion_out
            cuts = np.quantile(s_open, [.5,.8])
            tot = 0.0; m0 = float(w @ e / w.sum())
            for lo, hi in zip([-1,*cuts],[*cuts,9e9]):
                inb=(s_out>lo)&(s_out<=hi); frac=((s_open>lo)&(s_open<=hi)).mean()
                tot += frac*(float(w[inb]@e[inb])+2*m0*w.mean())/(float(w[inb].sum())+2*w.mean())
            out[f"post{p}"] = tot*share
        return out

    def settled(self, precision: float) -> bool:
        """Whether the estimated error is small enough."""
        return self.estimated_error() < precision

    def memberships(self) -> Floats:
        """Memberships of all items; answers stand."""
        U = self.likely.copy() if self.blend is None else self.blend.pool.copy()
        if len(self.pool) < self.items.n:
            parts = []
            for start in range(0, self.items.n, 100_000):
                X = self.items.take(np.arange(start, min(start + 100_000, self.items.n)))
                assert self.blend is not None
                parts.append(self.blend.predict(X))
            U = np.concatenate(parts)
        keep_answers(U, self.answers.items, self.answers.values)
        return U

    def finish(self, *, complete: bool) -> Clustering:
        """The best clustering from the answers so far."""
        U = self.memberships()
        X = self.items.take(np.arange(self.items.n))
        centers = weighted_centers(X, U, self.fuzzifier)
        weights = {} if self.blend is None else {
            f.name: round(float(w), 3)
            for f, w in zip(self.blend.fitted, self.blend.weights, strict=True) if w > 0
        }
        return Clustering(
            centers=centers, memberships=U, predictor=self.blend.predict if self.blend else None,
            complete=complete,
            diagnostics={
                "estimated_error": self.estimated_error(), "completion": weights,
                "sharpness": None if self.blend is None else self.blend.sharpness,
                "rounds": dict(self.answers.rounds),
            },
        )
