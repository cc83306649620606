"""The command in this process, as a user runs it, and a data file to run it on."""

import io
import os
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from types import SimpleNamespace
from unittest import mock

import pytest
from sklearn.datasets import load_iris

from askmeans.cli import main


@pytest.fixture(scope="session")
def askmeans():
    """Run `askmeans` with these arguments; returns its exit code and what it wrote.

    In this process, so that a test takes as long as its command: what is no error of ours comes
    out of the call as it is. test_main.py runs the installed command.
    """

    def run(*arguments, cwd, text_in="", ok=True):
        out, err = io.StringIO(), io.StringIO()
        with (
            chdir(cwd),
            mock.patch.dict(os.environ, COLUMNS="200"),
            mock.patch.object(sys, "stdin", io.StringIO(text_in)),
            redirect_stdout(out),
            redirect_stderr(err),
            as_python_warns(),
            pytest.raises(SystemExit) as end,
        ):
            main([str(argument) for argument in arguments])
        code = end.value.code or 0
        if ok:
            assert code == 0, err.getvalue()
        return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())

    return run


class as_python_warns(warnings.catch_warnings):  # noqa: N801 - used as a function
    """Show warnings as a new process does, not as pytest does."""

    def __enter__(self):
        super().__enter__()
        warnings.resetwarnings()
        quiet = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
        for kind in quiet:
            warnings.simplefilter("ignore", kind)


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
