"""The run that the repository keeps is whole, and the documentation speaks of it."""

import csv
from pathlib import Path

from experiments.claims import COLUMNS, HOLDS
from experiments.figures import FIGURES
from experiments.our_order import where_worse
from experiments.scale import FULL
from experiments.summary import Point
from experiments.synthetic import EQUAL, PAPER

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


def test_it_is_a_whole_run_of_the_papers_scale():
    scale = FULL
    assert "quick look" not in (KEPT / "report.md").read_text()
    beta = [row for row in table("figure_1a") if row["curve"] == "two-phase, faithful"]
    assert {int(row["x"]) for row in beta} == set(scale.zetas)
    assert {int(row["n_runs"]) for row in beta} == {scale.synthetic_runs}
    assert {row["setting"] for row in beta} == {PAPER, EQUAL}
    assert {int(row["x"]) for row in table("figure_1c")} == set(scale.ks)
    real = [row for row in table("figure_2") if row["curve"] == "sequential, our order"]
    assert {int(row["x"]) for row in real} == set(scale.real_nus)
    assert {int(row["n_runs"]) for row in real} == {scale.real_runs}


def test_the_page_tells_how_many_claims_hold():
    claims = table("claims")
    assert list(claims[0]) == COLUMNS
    holding = sum(claim["verdict"] == HOLDS for claim in claims)
    assert 0 < holding < len(claims)
    assert f"{holding} of {len(claims)} checks hold" in (ROOT / "reproduction.md").read_text()
    assert f"{holding} of {len(claims)} checks hold" in (KEPT / "report.md").read_text()


def test_the_page_says_where_our_order_is_worse():
    found = []
    for spec in FIGURES:
        columns = [
            {name: of(row[name]) for name, of in Point.__annotations__.items()}
            for row in table(spec.name)
        ]
        found += where_worse(spec, [Point(**values) for values in columns])
    report, page = ((folder / name).read_text() for folder, name in (
        (KEPT, "report.md"), (ROOT, "reproduction.md")))  # fmt: skip
    assert found
    for worse in found:
        assert f"| {' | '.join(worse.row)} |" in report
    worst = min(
        (worse for worse in found if worse.ours.panel == "Breast Cancer"),
        key=lambda worse: worse.ours.mean - worse.faithful.mean,
    )
    assert f"{worst.ours.mean:.3f} beside {worst.faithful.mean:.3f}" in page


def test_the_claims_about_theorem_10_are_those_of_the_repeated_solver():
    claims = [claim for claim in table("claims") if claim["claim"].startswith("Theorem 10")]
    assert len(claims) == 2 * len(FULL.noisy_forms)
    assert all("the solver run" in claim["where"] for claim in claims)
    panels = {row["panel"] for row in table("noise")}
    assert {"theorem 10", "theorem 10, centres", "theorem 10, each question averaged"} < panels


def test_the_page_tells_the_errors_of_theorem_10():
    page = (ROOT / "reproduction.md").read_text()
    found = {(row["panel"], row["curve"]): row for row in table("noise")}
    for form in FULL.noisy_forms:
        solver = found["theorem 10", form]
        averaged = found["theorem 10, each question averaged", form]
        errors = [f"{float(row['mean']):.3f}" for row in (solver, averaged)]
        assert f"| {solver['x']} ({form}) | {errors[0]} | {errors[1]} |" in page


def test_the_full_scale_is_the_papers():
    assert FULL.zetas == tuple(range(1, 25))
    assert (FULL.unit, FULL.synthetic_runs, FULL.synthetic_nus) == (5000, 20, (2000, 6000))
    assert FULL.stratified_runs == 20
    assert FULL.ks == tuple(range(2, 12))
    assert (FULL.real_runs, FULL.real_nus) == (500, tuple(range(10, 411, 10)))
