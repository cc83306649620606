"""Oracles are shown in a line, also as parameters of an estimator."""

import numpy as np
import pytest

from askmeans import ActiveFuzzyKMeans
from askmeans.oracles import (
    CallbackOracle,
    ConsoleOracle,
    CrowdOracle,
    NoisyOracle,
    QuantizedOracle,
    RememberingOracle,
    TableOracle,
)
from askmeans.queries import PairQueries

TABLE = TableOracle(np.full((5000, 4), 0.25))
TOLD = "TableOracle(5000 items, 4 clusters)"


@pytest.mark.parametrize(
    ("oracle", "shown"),
    [
        (TABLE, TOLD),
        (NoisyOracle(TABLE, std=0.1), f"NoisyOracle({TOLD}, std=0.1)"),
        (QuantizedOracle(TABLE, levels=5), f"QuantizedOracle({TOLD}, levels=5)"),
        (CrowdOracle([TABLE, TABLE]), "CrowdOracle(2 annotators)"),
        (CallbackOracle(pair=min, triplet=max), "CallbackOracle(pair, triplet)"),
        (ConsoleOracle(["a", "b"]), "ConsoleOracle(2 items)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_oracle_is_shown_in_a_line(oracle, shown):
    assert repr(oracle) == shown
    assert shown in repr(ActiveFuzzyKMeans(4, oracle=oracle)).replace("\n", "")


def test_a_remembering_oracle_says_how_much_it_remembers():
    oracle = RememberingOracle(TABLE)
    oracle.answer(PairQueries([[0, 1], [0, 2]]))
    assert repr(oracle) == f"RememberingOracle({TOLD}, 2 answers)"
