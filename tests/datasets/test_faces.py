"""Faces have clear moods, and some lie between."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.datasets import make_faces
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
