"""The gallery's examples run and draw; `make docs` shows them."""

import runpy
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from soaking import in_soak

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
QUICK = ("plot_01", "plot_05", "plot_09")  # the others by `make soak` and `make docs`


@pytest.mark.parametrize(
    "path",
    [path if path.name.startswith(QUICK) else in_soak(path) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_an_example_runs_and_draws(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    with warnings.catch_warnings():
        runpy.run_path(str(path))
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    assert all(figure.axes for figure in figures)
    plt.close("all")


def test_there_are_a_dozen_examples_each_with_a_title_and_a_text():
    assert len(EXAMPLES) >= 12
    for path in EXAMPLES:
        head = path.read_text().split('"""')[1].strip().splitlines()
        assert head[1] == "=" * len(head[0]), path.name
        assert path.name.startswith("plot_")  # only those are run
        assert "\n# %%\n" in path.read_text()
