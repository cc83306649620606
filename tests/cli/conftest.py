"""The command as a user runs it, and a data file to run it on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

COMMAND = Path(sys.executable).parent / "askmeans"


@pytest.fixture(scope="session")
def askmeans():
    """Run `askmeans` with these arguments; returns the finished process."""

    def run(*arguments, cwd, text_in="", ok=True):
        done = subprocess.run(
            [COMMAND, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=cwd,
            input=text_in,
            env={**os.environ, "COLUMNS": "200"},
            check=False,
            timeout=300,
        )
        if ok:
            assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def folder(tmp_path):
    """A folder with Iris in it, as CSV, Parquet and Arrow."""
    data = load_iris(as_frame=True)
    frame = data.frame.drop(columns="target")
    frame.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    frame.insert(0, "flower", [f"f{i}" for i in range(150)])
    frame["species"] = data.target_names[data.target]
    frame.to_csv(tmp_path / "iris.csv", index=False)
    frame.to_parquet(tmp_path / "iris.parquet")
    frame.to_feather(tmp_path / "iris.feather")
    return tmp_path
