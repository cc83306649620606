"""Oracles that stop, are silent, answer wrongly, or must not be asked."""

import math

import numpy as np

from askmeans.exceptions import StopAsking
from askmeans.oracles import CallbackOracle, TableOracle


class Nobody:
    """An oracle that must not be asked."""

    def answer(self, queries):
        raise AssertionError(f"asked {queries}")


class Silent:
    """An oracle that cannot say anything about some entries."""

    def __init__(self, U, share, seed=0):
        silent = np.random.default_rng(seed).random(U.shape) < share
        self.table = np.where(silent, np.nan, U)

    def answer(self, queries):
        if queries.kind == "group":
            return self.table[queries.items]
        return self.table[queries.items, queries.clusters]


class Counting:
    """Answers from a table until it has had enough; some things it cannot say."""

    def __init__(self, U, *, enough=math.inf, silent=0.0, seed=0):
        self.oracle, self.left, self.silent = TableOracle(U), enough, silent
        self.rng, self.asked = np.random.default_rng(seed), []

    def answer(self, queries):
        answers = self.oracle.answer(queries)
        answers[self.rng.random(len(answers)) < self.silent] = np.nan
        self.asked += [tuple(sorted(row)) for row in queries.item_table.tolist()]
        reached = np.arange(len(answers)) < self.left
        self.left -= int(reached.sum())
        if reached.all():
            return answers
        raise StopAsking(np.where(reached, answers, np.nan), reached)


def hostile(U, how="flipped", seed=0):
    """An oracle whose answers are one minus the truth, or random."""
    rng = np.random.default_rng(seed)

    def wrong(*truth):
        return 1.0 - np.prod(truth, axis=0).sum() if how == "flipped" else rng.random()

    return CallbackOracle(
        membership=lambda item, cluster: wrong(U[item, cluster : cluster + 1]),
        pair=lambda p, q: wrong(U[p], U[q]),
        triplet=lambda p, q, r: wrong(U[p], U[q], U[r]),
    )
