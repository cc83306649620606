"""Run the paper's experiments: ``python -m experiments --out FOLDER``."""

import argparse
from pathlib import Path

from askmeans._util.progress import work_bar
from experiments.claims import HOLDS
from experiments.reproduce import all_cells, reproduce
from experiments.scale import FULL, QUICK


def main() -> None:
    """Run what is missing in the folder, and print which claims do not hold."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the report")
    parser.add_argument("--quick", action="store_true", help="two minutes: fewer runs, small data")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same tables")
    parser.add_argument("--jobs", type=int, help="processes (default: one per core)")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    total = sum(cell.weight for cell in all_cells(scale, options.seed))
    with work_bar("experiments", total) as advance:
        claims = reproduce(
            options.out, scale=scale, seed=options.seed, jobs=options.jobs, advance=advance
        )
    failing = [claim for claim in claims if claim.verdict != HOLDS]
    print(f"{len(claims) - len(failing)} of {len(claims)} checks of the paper's claims hold.")
    for claim in failing:
        print(f"  does not hold: {claim.where}: {claim.claim}")
    print(f"Report: {options.out / 'report.md'}")


if __name__ == "__main__":
    main()
