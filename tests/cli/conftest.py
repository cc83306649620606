"""The command in this process, as a user runs it, and a data file to run it on."""

import io
import os
import shutil
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from types import SimpleNamespace
from unittest import mock

import pytest
import typer
from sklearn.datasets import load_iris

from askmeans.cli import main


@pytest.fixture(scope="session")
def askmeans():
    """Run `askmeans` with these arguments; returns its exit code and what it wrote.

    In this process, so that a test takes as long as its command: what is no error of ours comes
    out of the call as it is. test_main.py runs the installed command. The tree of commands, which
    keeps nothing of a call, is made once.
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

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield run


class as_python_warns(warnings.catch_warnings):  # noqa: N801 - used as a function
    """Show warnings as a new process does, not as pytest does."""

    def __enter__(self):
        super().__enter__()
        warnings.resetwarnings()
        quiet = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
        for kind in quiet:
            warnings.simplefilter("ignore", kind)


@pytest.fixture(scope="session")
def iris_files(tmp_path_factory):
    """Iris as CSV, Parquet and Arrow."""
    data = load_iris(as_frame=True)
    frame = data.frame.drop(columns="target")
    frame.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    frame.insert(0, "flower", [f"f{i}" for i in range(150)])
    frame["species"] = data.target_names[data.target]
    made = tmp_path_factory.mktemp("iris")
    frame.to_csv(made / "iris.csv", index=False)
    frame.to_parquet(made / "iris.parquet")
    frame.to_feather(made / "iris.feather")
    return made


@pytest.fixture
def folder(iris_files, tmp_path):
    """A folder with those files in it."""
    return shutil.copytree(iris_files, tmp_path, dirs_exist_ok=True)
