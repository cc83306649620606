"""Bars for people, silence for pipes."""

import sys

from askmeans._util.progress import passes_bar, work_bar


def test_a_bar_of_work_tells_the_share_that_is_done_and_the_time_left(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    with work_bar("experiments", 4.0) as advance:
        advance(1.0)
        advance(0.5)
    said = capsys.readouterr().err
    assert "experiments" in said
    assert "38%" in said
    assert "left" in said


def test_it_is_silent_in_a_pipe(capsys):
    with work_bar("experiments", 4.0) as advance:
        advance(4.0)
    assert capsys.readouterr().err == ""


def test_a_bar_of_passes_counts_them(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with passes_bar() as watch:
        for share in (0.5, 1.0, 0.5, 1.0, 0.25):
            watch(share)
    shown = capsys.readouterr().err
    assert "pass 3" in shown
    assert "25%" in shown
