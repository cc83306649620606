"""Bars for people, silence for pipes."""

import sys

from askmeans._util.progress import (
    part_of_progress,
    passes_bar,
    report_progress,
    reporting_progress,
    stage,
    tracked,
    work_bar,
)


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
    with passes_bar():
        for share in (0.5, 1.0, 0.5, 1.0, 0.25):
            report_progress(share)
    shown = capsys.readouterr().err
    assert "pass 3" in shown
    assert "25%" in shown


def test_a_stage_shows_the_share_that_is_reported_and_the_time_left(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    with stage("encoding"):
        report_progress(0.42)
        before = capsys.readouterr().err
    assert "encoding" in before
    assert "left" in before
    assert "100%" in capsys.readouterr().err


def test_parts_of_the_work_are_reported_as_shares_of_the_whole():
    shares = []
    with reporting_progress(shares.append), part_of_progress(0.5, 1.0):
        assert list(tracked(range(4))) == [0, 1, 2, 3]
        with part_of_progress(0.8, 1.0):
            report_progress(0.5)
    assert shares == [0.5, 0.625, 0.75, 0.875, 0.95]
