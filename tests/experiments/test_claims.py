"""A claim holds if its whole interval lies where it must; one that fails is shown as failing."""

import numpy as np
import pytest

from experiments.claims import (
    COLUMNS,
    FAILS,
    HOLDS,
    SEQUENTIAL,
    TWO_PHASE,
    Book,
    claim,
    furthest,
    same_cost,
)
from experiments.runs import Series


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


def test_shares_have_an_exact_interval_that_knows_how_few_the_runs_are():
    many, few = (claim("c", "w", "t", [1.0] * n, above=0.9, shares=True) for n in (50, 10))
    assert many.verdict == HOLDS
    assert many.low == pytest.approx(0.025 ** (1 / 50))  # Clopper and Pearson, all of 50
    assert few.verdict == FAILS
    assert claim("c", "w", "t", [1.0] * 40 + [0.0] * 10, above=0.9, shares=True).estimate == 0.8


def test_what_is_said_of_a_curve_is_tested_where_it_is_least_true():
    values = np.array([[0.1, -0.7, 0.3], [0.1, -0.9, 0.4]])
    x, column = furthest(values, [2.0, 4.0, 8.0])
    assert x == 4.0
    assert column.tolist() == [-0.7, -0.9]


def test_half_the_questions_here_and_twice_there_are_not_the_same_cost():
    def series(curve, x, asked):
        return Series(panel="p", setting="", curve=curve, x=x, values=[0.0] * 3,
                      queries=[asked, asked + 1, asked + 2], raw=[0] * 3)  # fmt: skip

    theirs = [series(TWO_PHASE, x, 100) for x in (2.0, 11.0)]
    mixed = Book({"f-": [*theirs, series(SEQUENTIAL, 2.0, 50), series(SEQUENTIAL, 11.0, 210)]})
    found = same_cost(mixed, "f", "p", "", "k", "c", "w")
    assert found.verdict == FAILS
    assert "k = 11" in found.test
    assert found.estimate == pytest.approx(2.09, abs=0.02)
    alike = Book({"f-": [*theirs, series(SEQUENTIAL, 2.0, 98), series(SEQUENTIAL, 11.0, 103)]})
    assert same_cost(alike, "f", "p", "", "k", "c", "w").verdict == HOLDS


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
