"""`askmeans reproduce`, on a scale small enough for a test."""

import importlib
import shutil
import sys

import pytest

from askmeans.cli import main


def test_it_finds_what_was_run_writes_the_report_and_says_what_does_not_hold(
    finished, tiny, tmp_path, monkeypatch, capsys
):
    shutil.copytree(finished / "cells", tmp_path / "cells")
    monkeypatch.setattr(importlib.import_module("askmeans.cli.reproduce"), "QUICK", tiny)
    # The pictures are compared in tests/reproduction; drawing them takes long.
    room = importlib.import_module("askmeans.reproduction.reproduce")
    monkeypatch.setattr(room, "save_figure", lambda *_, **__: None)
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "--out", str(tmp_path), "--quick", "--seed", "7", "--jobs", "1"])
    assert end.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "checks of the paper's claims hold" in said
    assert "Fuzzy C-means gets an accuracy of only 31.33%" in said
    for name in ("report.html", "claims.csv"):
        assert (tmp_path / name).read_text() == (finished / name).read_text()


def test_a_wrong_number_of_jobs_is_one_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "--out", str(tmp_path), "--quick", "--jobs", "0"])
    assert end.value.code == 1
    assert "'jobs'" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["reproduce", "--quick"], ["demo"]])
def test_without_matplotlib_it_says_what_to_install_before_anything_runs(
    command, askmeans, tmp_path, monkeypatch
):
    for name in [*sys.modules]:  # as if none of them had been loaded yet
        if name.startswith(("askmeans.cli.", "askmeans.plotting", "askmeans.reproduction")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = askmeans(*command, "--out", tmp_path / "new", cwd=tmp_path, ok=False)
    assert said.returncode == 1
    assert said.stderr.startswith("askmeans: Pictures need matplotlib")
    assert 'pip install "askmeans[plot]"' in said.stderr
    assert "Traceback" not in said.stderr
    assert not (tmp_path / "new").exists()
