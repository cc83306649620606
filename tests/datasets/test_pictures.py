"""Faces have clear moods or lie between; scenes are told apart by their colours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.datasets import make_faces, make_scenes
from askmeans.exceptions import ParameterError
from askmeans.fuzzy import weighted_centers


def test_faces_are_always_the_same_and_some_lie_between_moods():
    faces, again = make_faces(), make_faces()
    assert (faces.X == again.X).all()
    assert_allclose(faces.memberships.sum(axis=1), 1.0)
    strongest = faces.memberships.max(axis=1)
    assert (strongest < 0.6).sum() >= 6 < (strongest > 0.9).sum()
    assert_allclose(faces.centers, weighted_centers(faces.X, faces.memberships), atol=1e-9)


def test_faces_of_one_mood_look_alike():
    faces = make_faces()
    mood, sure = faces.memberships.argmax(axis=1), faces.memberships.max(axis=1) > 0.9
    gaps = np.square(faces.X[sure, None] - faces.centers).sum(axis=2)
    assert (gaps.argmin(axis=1) == mood[sure]).all()


def test_no_faces_are_refused():
    with pytest.raises(ParameterError, match="'n' parameter of make_faces"):
        make_faces(0)


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
