"""Scenes can be told apart by their colours."""

import numpy as np
import pytest

from askmeans.datasets import make_scenes
from askmeans.exceptions import ParameterError


def test_every_fourth_picture_shows_two_scenes_side_by_side():
    scenes = make_scenes(8)
    assert [int((row > 0).sum()) for row in scenes.shares] == [1, 1, 1, 2] * 2
    assert np.allclose(scenes.shares.sum(axis=1), 1.0)
    assert scenes.images.dtype == np.uint8


def test_a_night_is_darker_than_a_beach():
    scenes = make_scenes()
    light = scenes.images.mean(axis=(1, 2, 3))
    pure = {name: light[scenes.shares[:, j] == 1.0] for j, name in enumerate(scenes.names)}
    assert pure["night"].max() < pure["forest"].min() < pure["beach"].min()


def test_no_pictures_are_refused():
    with pytest.raises(ParameterError, match="'n' parameter of make_scenes"):
        make_scenes(0)
