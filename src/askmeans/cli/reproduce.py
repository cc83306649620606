"""`askmeans reproduce`: the paper's experiments, with a bar while they run."""

from pathlib import Path

from rich.console import Console

from askmeans.progress import work_bar
from askmeans.reproduction.claims import HOLDS
from askmeans.reproduction.reproduce import all_cells, reproduce
from askmeans.reproduction.scale import FULL, QUICK

__all__ = ["run"]


def run(out: Path, *, quick: bool, seed: int, jobs: int | None) -> None:
    """Run what is missing in the folder, and say where the report is."""
    console = Console()
    scale = QUICK if quick else FULL
    total = sum(cell.weight for cell in all_cells(scale, seed))
    with work_bar("experiments", total) as advance:
        claims = reproduce(out, scale=scale, seed=seed, jobs=jobs, advance=advance)
    failing = [claim for claim in claims if claim.verdict != HOLDS]
    console.print(
        f"{len(claims) - len(failing)} of {len(claims)} checks of the paper's claims hold; "
        f"those that do not:"
    )
    for claim in failing:
        console.print(f"  {claim.where}: {claim.claim}", markup=False, highlight=False)
    console.print(f"Report: [bold]{out / 'report.html'}[/bold]")
