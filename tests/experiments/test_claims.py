"""A claim holds if its whole interval lies where it must; one that fails is shown as failing."""

import numpy as np
import pytest

from askmeans.experiments.claims import COLUMNS, FAILS, HOLDS, Book, claim
from askmeans.experiments.runs import Series


def test_the_interval_must_lie_wholly_beyond_the_bound():
    clear, torn = [1.0, 1.1, 0.9, 1.0], [1.0, -0.9, 0.5, -0.2]
    assert claim("c", "w", "t", clear, above=0.0).verdict == HOLDS
    assert claim("c", "w", "t", clear, below=0.0).verdict == FAILS
    assert claim("c", "w", "t", torn, above=0.0).verdict == FAILS  # though the mean is above


def test_comparable_means_that_the_interval_lies_between_both_bounds():
    near, far = [0.01, -0.01, 0.0], [0.5, -0.5, 0.0]
    assert claim("c", "w", "t", near, above=-0.1, below=0.1).verdict == HOLDS
    assert claim("c", "w", "t", far, above=-0.1, below=0.1).verdict == FAILS


def test_no_difference_at_all_is_no_improvement():
    assert claim("c", "w", "t", [0.0, 0.0, 0.0], above=0.0).verdict == FAILS


def test_ratios_are_averaged_as_logarithms():
    found = claim("c", "w", "t", np.log([2.0, 0.5, 2.0, 0.5]), above=0.1, logs=True)
    assert found.estimate == pytest.approx(1.0)
    assert found.low * found.high == pytest.approx(1.0)


def test_a_row_has_the_columns_of_the_table():
    row = claim("c", "w", "t", [1.0], above=2.0).row
    assert COLUMNS[:6] == ["claim", "where", "estimate", "low", "high", "verdict"]
    assert row == ["c", "w", 1.0, 1.0, 1.0, FAILS, "t"]


def test_the_book_finds_runs_by_figure_panel_setting_curve_and_x():
    def series(x, value):
        return Series(
            panel="p",
            setting="s",
            curve="c",
            x=x,
            values=[value, value],
            queries=[1, 2],
            raw=[3, 3],
        )

    book = Book({"figure_1-two": [series(2.0, 0.2)], "figure_1-one": [series(1.0, 0.1)]})
    assert book.panels("figure_1") == ["p"]
    assert book.panels("figure_1", "q") == book.panels("figure_2") == []
    assert book.xs("figure_1", "p", "c") == [1.0, 2.0]
    assert book.xs("figure_1", "p", "d") == []
    assert book.values("figure_1", "p", "s", "c", [1.0, 2.0]).tolist() == [[0.1, 0.2]] * 2
    assert book.queries("figure_1", "p", "s", "c", [2.0]).tolist() == [[1.0], [2.0]]
