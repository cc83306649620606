"""The full run that the repository keeps is whole, and the documentation speaks of it."""

import csv
from pathlib import Path

from askmeans.experiments.claims import COLUMNS, HOLDS
from askmeans.experiments.figures import FIGURES
from askmeans.experiments.scale import FULL
from askmeans.experiments.synthetic import EQUAL, PAPER

ROOT = Path(__file__).parent.parent.parent / "docs"
KEPT = ROOT / "reproduction"


def table(name):
    with (KEPT / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_figure_is_kept_with_its_table():
    for spec in FIGURES:
        assert table(spec.name)
        assert (KEPT / f"{spec.name}.png").stat().st_size > 10_000
        assert (KEPT / f"{spec.name}.svg").read_text().startswith("<?xml")


def test_it_is_the_full_run():
    beta = [row for row in table("figure_1a") if row["curve"] == "two-phase, faithful"]
    assert {int(row["x"]) for row in beta} == set(FULL.zetas) == set(range(1, 25))
    assert {int(row["n_runs"]) for row in beta} == {20}
    assert {row["setting"] for row in beta} == {PAPER, EQUAL}
    assert {int(row["x"]) for row in table("figure_1c")} == set(range(2, 12))
    real = [row for row in table("figure_2") if row["curve"] == "sequential, our order"]
    assert {int(row["x"]) for row in real} == set(range(10, 411, 10))
    assert {int(row["n_runs"]) for row in real} == {500}


def test_the_page_tells_how_many_claims_hold():
    claims = table("claims")
    assert list(claims[0]) == COLUMNS
    holding = sum(claim["verdict"] == HOLDS for claim in claims)
    assert 0 < holding < len(claims)
    assert f"{holding} of {len(claims)} checks hold" in (ROOT / "reproduction.md").read_text()
    assert f"{holding} of {len(claims)} checks hold" in (KEPT / "report.md").read_text()
