"""Cells are run once, kept whole, and not taken for what they are not."""

import json

import pytest

from experiments.cells import Cell, run_cells
from experiments.real import baselines


def cell(data="Iris", seed=0):
    return Cell(name=data, work=baselines, arguments={"data": data, "seed": seed}, weight=2.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a cell was run, and then one that failed; each run starts a process."""
    folder = tmp_path_factory.mktemp("cells")
    bad = Cell(name="bad", work=baselines, arguments={"data": "none", "seed": 0}, weight=1.0)
    with pytest.raises(KeyError):
        run_cells([cell(), bad], folder, jobs=1, advance=lambda _: None)
    return folder


def tampered(folder):
    """Change a stored number: it comes back if, and only if, the cell is not run again."""
    path = folder / "Iris.json"
    stored = json.loads(path.read_text())
    stored["series"][0]["values"][0] = 0.125
    path.write_text(json.dumps(stored))


def test_what_was_done_before_a_cell_failed_is_kept(folder):
    assert [path.name for path in folder.iterdir()] == ["Iris.json"]


def test_a_finished_cell_is_read_not_run(folder):
    tampered(folder)
    told = []
    found = run_cells([cell()], folder, jobs=1, advance=told.append)
    assert found["Iris"][0].values[0] == 0.125
    assert told == [2.0]  # at once: it must not count as speed in the time left


def test_a_cell_for_other_arguments_is_run_again(folder):
    tampered(folder)
    found = run_cells([cell(seed=1)], folder, jobs=1, advance=lambda _: None)
    assert found["Iris"][0].values[0] != 0.125
