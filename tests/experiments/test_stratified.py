"""Our strategy on the paper's data, in small: few questions, small errors."""

import numpy as np
import pytest

from experiments.stratified import cells, real_cell, synthetic_cell
from experiments.synthetic import EQUAL, PAPER


@pytest.mark.soak
def test_eight_items_find_the_centres_that_a_thousand_questions_only_approach():
    found = synthetic_cell(
        panels=["a, nu = 1", "a, nu = 2"], x=5, k=4, first=200, other=1000, items=8, runs=2, seed=0
    )
    places = [(s.panel, s.setting) for s in found]
    assert places == [(p, s) for p in ("a, nu = 1", "a, nu = 2") for s in (PAPER, EQUAL)]
    assert max(found[0].queries) <= 24
    assert max(found[0].values) < 2.0


def test_it_is_accurate_on_real_data_with_few_questions():
    (series,) = real_cell(data="Iris", items=10, runs=2, seed=0)
    assert max(series.queries) <= 20
    assert np.mean(series.values) > 0.93


def test_it_stands_in_every_panel(tiny):
    panels = {p for cell in cells(tiny, 0) for p in cell.arguments.get("panels", [])}
    assert panels == {"a, nu = 60", "b, beta = 0.25", "c, nu = 60"}
