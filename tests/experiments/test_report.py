"""The report shows every figure, every claim, and failing ones as failing."""

from dataclasses import replace

import pytest

from experiments.claims import claim
from experiments.figures import FIGURES
from experiments.our_order import Worse
from experiments.report import Report
from experiments.scale import FULL, QUICK
from experiments.summary import Point


@pytest.fixture
def report():
    claims = [
        claim("Rises & stays.", "figure 2", "above 0", [1.0, 1.1], above=0.0),
        claim("Falls <1>.", "figure 1", "below 0", [1.0, 1.1], below=0.0),
    ]
    return Report(scale=QUICK, seed=3, figures=FIGURES, claims=claims, worse=[])


def test_a_failing_claim_is_shown_as_failing(report):
    lines = [line for line in report.markdown().splitlines() if "Falls" in line]
    assert len(lines) == 1
    assert lines[0].endswith("| **does not hold** |")


def test_every_figure_is_shown_with_its_table(report):
    for spec in FIGURES:
        assert f"({spec.name}.png)" in report.markdown()
        assert f"({spec.name}.csv)" in report.markdown()


def test_it_says_what_was_run_and_how_much_holds(report):
    for text in ("Seed 3", "quick look", "1 of 2 checks hold"):
        assert text in report.markdown()
    full = Report(scale=FULL, seed=0, figures=FIGURES, claims=report.claims, worse=[])
    assert "look, not the full run" not in full.markdown()


def test_both_baselines_are_explained(report):
    assert "31.33, 35.96 and 14.58" in report.markdown()
    assert "89.33, 68.54 and 85.41" in report.markdown()


def test_where_our_order_is_worse_is_listed(report):
    assert "nowhere worse" in report.markdown()
    spec = next(spec for spec in FIGURES if spec.name == "figure_2")
    values = {"setting": "", "x": 10.0, "n_runs": 5, "low": 0.0, "high": 1.0, "sd": 0.1,
              "queries_raw": 99.0}  # fmt: skip
    worse = Worse(
        figure=spec,
        faithful=Point(panel="Iris", curve="two-phase, faithful", mean=0.9, queries=40, **values),
        ours=Point(panel="Iris", curve="two-phase, our order", mean=0.8, queries=14, **values),
    )
    listed = replace(report, worse=[worse])
    row = "| figure 2: Iris, two-phase | nu = 10 | 0.9000 | 40 | 0.8000 | 14 |"
    assert row in listed.markdown().splitlines()
