"""The whole: every file is there, and the same however the work was shared or interrupted."""

import csv
import importlib
import json
import shutil

import pytest
from soaking import in_soak

from askmeans.exceptions import ParameterError
from experiments.figures import FIGURES
from experiments.reproduce import all_cells, reproduce

pytestmark = pytest.mark.soak  # these share one small run of all experiments

RESULTS = [f"{spec.name}.{end}" for spec in FIGURES for end in ("csv", "png", "svg")]
RESULTS += ["claims.csv", "report.md"]


TEXTS = [name for name in RESULTS if not name.endswith((".png", ".svg"))]


def contents(folder, names=RESULTS):
    return {name: (folder / name).read_bytes() for name in names}


def test_every_figure_has_a_table_and_two_pictures_and_there_is_a_report(finished):
    assert {path.name for path in finished.iterdir()} == {*RESULTS, "cells"}
    for spec in FIGURES:
        rows = list(csv.DictReader((finished / f"{spec.name}.csv").open()))
        assert rows
        assert all(float(row["low"]) <= float(row["mean"]) <= float(row["high"]) for row in rows)


@pytest.mark.soak
def test_two_processes_write_the_same_files_to_the_last_byte(finished, tiny, tmp_path):
    reproduce(tmp_path, scale=tiny, seed=7, jobs=2)
    assert contents(tmp_path) == contents(finished)


@pytest.mark.parametrize("every", [10, in_soak(3)])
def test_a_resumed_run_equals_an_uninterrupted_one_and_keeps_what_was_done(
    finished, tiny, tmp_path, every, monkeypatch
):
    # The pictures are compared in `make soak`: drawing them takes longer than the rest.
    room = importlib.import_module("experiments.reproduce")
    monkeypatch.setattr(room, "save_figure", lambda *_, **__: None)
    shutil.copytree(finished / "cells", tmp_path / "cells")
    kept = sorted((tmp_path / "cells").iterdir())
    for path in kept[::every]:
        path.unlink()
    kept[1].write_text(kept[1].read_text()[:-9])  # cut off, as if by a full disk
    untouched = {path: path.stat().st_mtime_ns for path in kept if path.exists()}
    told = []
    reproduce(tmp_path, scale=tiny, seed=7, jobs=1, advance=told.append)
    assert contents(tmp_path, TEXTS) == contents(finished, TEXTS)
    again = [path for path, time in untouched.items() if path.stat().st_mtime_ns != time]
    assert again == [kept[1]]
    assert sum(told) == pytest.approx(sum(cell.weight for cell in all_cells(tiny, 7)))


def test_another_seed_runs_everything_again(finished, tiny):
    first = all_cells(tiny, 7)
    second = all_cells(tiny, 8)
    assert [cell.name for cell in first] == [cell.name for cell in second]
    for cell, other in zip(first, second, strict=True):
        stored = json.loads((finished / "cells" / f"{cell.name}.json").read_text())["key"]
        assert stored == cell.key
        assert (stored == other.key) == ("seed" not in cell.arguments)


def test_names_of_cells_are_unique_and_fit_a_file_system(tiny):
    names = [cell.name for cell in all_cells(tiny, 0)]
    assert len(set(names)) == len(names)
    assert not [name for name in names if set(name) & set(' ,/:"')]


@pytest.mark.parametrize(("name", "value"), [("jobs", 0), ("seed", -1)])
def test_wrong_numbers_are_refused_before_anything_runs(tiny, tmp_path, name, value):
    with pytest.raises(ParameterError, match=name):
        reproduce(tmp_path / "new", scale=tiny, **{name: value})
    assert not (tmp_path / "new").exists()
