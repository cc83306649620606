"""Figures are the same files every time, and tell what they do not show."""

from dataclasses import replace

import pytest

from experiments.drawing import save_figure
from experiments.figures import FigureSpec
from experiments.summary import Point


def point(panel, curve, x, mean):
    return Point(panel=panel, setting="", curve=curve, x=x, n_runs=2, mean=mean, low=mean - 1,
                 high=mean + 1, sd=1.0, queries=3.0, queries_raw=4.0)  # fmt: skip


@pytest.mark.soak
def test_a_sheet_is_saved_twice_and_the_same_every_time(tmp_path):
    curves = {"a": (1.0, 2.0), "b": (2.0, 1e-5), "base": (0.5, 0.5)}
    points = [
        point("one", curve, x, mean)
        for curve, means in curves.items()
        for x, mean in zip((1.0, 2.0), means, strict=True)
    ]
    spec = FigureSpec(
        name="f", prefix="f-", title="sheet", caption="", xlabel="x", ylabel="y", columns=2,
        place=lambda point: (point.panel, point.curve), log_x=True, floor=0.1, levels=("base",),
    )  # fmt: skip
    for name in ("one", "two"):
        save_figure(spec, points, tmp_path / name)
    for end in ("png", "svg"):
        first = (tmp_path / f"one.{end}").read_bytes()
        assert first == (tmp_path / f"two.{end}").read_bytes()
    assert b"<svg" in first
    assert b"<!-- below the picture, at least in part: -->" in first
    assert b"1e-05 to 2 -->" in first
    save_figure(replace(spec, floor=None), points, tmp_path / "all")
    assert b"below the picture" not in (tmp_path / "all.svg").read_bytes()
