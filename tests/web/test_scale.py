"""Points of a scale, and values in words."""

import pytest

from askmeans.web.scale import describe, describe_fully, points_of, slider_step


def test_five_points_by_default_on_the_keys_one_to_five():
    points = points_of("membership", None)
    assert [(p.key, p.value, p.shown) for p in points] == [
        ("1", 0.0, "0"), ("2", 0.25, "¼"), ("3", 0.5, "½"), ("4", 0.75, "¾"), ("5", 1.0, "1"),
    ]  # fmt: skip
    assert points[0].word == "not at all"
    assert points_of("pairwise", None)[4].word == "surely"


@pytest.mark.parametrize("levels", [2, 3, 7, 9])
def test_the_sessions_own_scale_gets_as_many_buttons(levels):
    points = points_of("similarity", levels)
    assert len(points) == levels
    assert [points[0].value, points[-1].value] == [0.0, 1.0]
    assert points[0].word == "surely not"


def test_a_scale_too_fine_for_keys_is_the_sliders():
    assert points_of("similarity", 11) == []
    assert slider_step(11) == pytest.approx(0.1)
    assert slider_step(None) == 0.05


def test_values_are_said_shortly_and_with_their_word():
    assert [describe(value) for value in (None, 0.0, 1.0, 0.5, 1 / 3)] == [
        "cannot say", "0", "1", "½", "0.33",
    ]  # fmt: skip
    assert describe_fully(0.75, "membership") == "“mostly” (¾)"
    assert describe_fully(0.6, "membership") == "“0.6”"
    assert describe_fully(None, "pairwise") == "“cannot say”"


def test_a_relative_answer_is_one_side_the_other_or_both():
    points = points_of("relative", None)
    assert [(p.key, p.value) for p in points] == [("1", 1.0), ("2", 0.5), ("3", 0.0)]
    assert describe_fully(1.0, "relative") == "“more like the left”"
    assert describe_fully(None, "relative") == "“cannot say”"
