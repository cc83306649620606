"""Results as CSV: one line for each run, with date, version and machine."""

import csv
import datetime as dt
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd

import askmeans

FOLDER = Path(__file__).parent / "results"
SCORES = ("ari", "accuracy", "log_loss", "ece", "error")
KEY = ("set", "method", "budget", "seed")
COLUMNS = (*KEY, "asked", *SCORES, "seconds", "failure", "date", "version", "machine")


class Results:
    """A file of results; a run that is in it is not run again, unless it failed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = set()
        if path.exists():
            runs = read(path)
            keys = runs.loc[runs["failure"].isna(), list(KEY)].astype(str)
            self._known = set(keys.itertuples(index=False, name=None))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(",".join(COLUMNS) + "\n")

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        return tuple(map(str, key)) in self._known

    def add(self, key: tuple[Any, ...], **values: Any) -> None:
        """Append one run."""
        line = dict(zip(KEY, key, strict=True)) | values | _here()
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n").writerow(line)
        self._known.add(tuple(map(str, key)))


def read(path: Path) -> pd.DataFrame:
    """Every run of a file."""
    return pd.read_csv(path, dtype={"seed": str, "set": str})


def _here() -> dict[str, str]:
    """Date, version and machine."""
    commit = subprocess.run(
        ["git", "-C", Path(__file__).parent, "rev-parse", "--short", "HEAD"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    version = f"{askmeans.__version__}+{commit}" if commit else askmeans.__version__
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    return {"date": dt.date.today().isoformat(), "version": version, "machine": machine}
