"""The report shows every figure, every claim, and failing ones as failing."""

import pytest

from askmeans.experiments.claims import claim
from askmeans.experiments.figures import FIGURES
from askmeans.experiments.report import Report
from askmeans.experiments.scale import FULL, QUICK


@pytest.fixture
def report():
    claims = [
        claim("Rises & stays.", "figure 2", "above 0", [1.0, 1.1], above=0.0),
        claim("Falls <1>.", "figure 1", "below 0", [1.0, 1.1], below=0.0),
    ]
    return Report(scale=QUICK, seed=3, figures=FIGURES, claims=claims)


def test_a_failing_claim_is_shown_as_failing_in_both(report):
    lines = [line for line in report.markdown().splitlines() if "Falls" in line]
    assert len(lines) == 1
    assert lines[0].endswith("| **does not hold** |")
    assert '<tr class="fails"><td>Falls &lt;1&gt;.</td>' in report.html()
    assert '<tr class="holds"><td>Rises &amp; stays.</td>' in report.html()


def test_every_figure_is_shown_with_its_table(report):
    for spec in FIGURES:
        assert f"({spec.name}.png)" in report.markdown()
        assert f"({spec.name}.csv)" in report.markdown()
        assert f'src="{spec.name}.svg"' in report.html()


def test_it_says_what_was_run_and_how_much_holds(report):
    for text in (report.markdown(), report.html()):
        assert "Seed 3" in text
        assert "quick look" in text
        assert "1 of 2 checks hold" in text
    full = Report(scale=FULL, seed=0, figures=FIGURES, claims=report.claims)
    assert "look, not the full run" not in full.markdown()


def test_both_baselines_are_explained(report):
    for text in (report.markdown(), report.html()):
        assert "31.33, 35.96 and 14.58" in text
        assert "89.33, 68.54 and 85.41" in text
