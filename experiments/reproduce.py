"""The paper's experiments from scratch: run what is missing, then tables, figures, claims."""

import os
from collections.abc import Callable
from pathlib import Path

from askmeans._util.checks import check_number, check_seed
from experiments import beyond, fuzzifiers, real, stratified, synthetic
from experiments.cells import Cell, run_cells
from experiments.claims import COLUMNS, Book, Claim
from experiments.drawing import save_figure
from experiments.figures import FIGURES
from experiments.our_order import Worse, where_worse
from experiments.paper_claims import all_claims
from experiments.report import Report
from experiments.scale import FULL, Scale
from experiments.summary import points, write_csv, write_points

__all__ = ["all_cells", "reproduce"]


def all_cells(scale: Scale, seed: int) -> list[Cell]:
    """The cells of all experiments."""
    rooms = (synthetic, real, stratified, fuzzifiers, beyond)
    return [cell for room in rooms for cell in room.cells(scale, seed)]


def reproduce(
    out: Path,
    *,
    scale: Scale = FULL,
    seed: int = 0,
    jobs: int | None = None,
    advance: Callable[[float], None] = lambda _: None,
) -> list[Claim]:
    """Run the experiments into a folder; cells that are finished there are not run again.

    `advance` is called with the weight of every finished cell; `all_cells` has the total.
    """
    check_seed(seed, "seed", "reproduce")
    if jobs is None:
        jobs = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    check_number(jobs, "jobs", "reproduce", integer=True, minimum=1)
    out.mkdir(parents=True, exist_ok=True)
    cells = all_cells(scale, seed)
    results = run_cells(cells, out / "cells", jobs=jobs or 1, advance=advance)
    worse: list[Worse] = []
    for spec in FIGURES:
        mine = [
            s for name, series in results.items() if name.startswith(spec.prefix) for s in series
        ]
        drawn = points(mine)
        write_points(drawn, out / f"{spec.name}.csv")
        worse += where_worse(spec, drawn)
        save_figure(spec, drawn, out / spec.name)
    claims = all_claims(Book(results))
    write_csv(out / "claims.csv", COLUMNS, [claim.row for claim in claims])
    Report(scale=scale, seed=seed, figures=FIGURES, claims=claims, worse=worse).write(
        out / "report.md"
    )
    return claims
