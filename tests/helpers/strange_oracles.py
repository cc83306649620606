"""Oracles that stop, are silent, or must not be asked."""

import math

import numpy as np

from askmeans.exceptions import StopAsking
from askmeans.oracles import TableOracle


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
