"""Drawn faces with four moods, some of them mixed."""

import numpy as np

from askmeans._util.checks import check_number
from askmeans.datasets.planted import Planted
from askmeans.fuzzy.model import weighted_centers

MOODS = ("happy", "sad", "angry", "surprised")
FEATURES = ("mouth bends up", "mouth open", "brows rise inside", "eyes wide")
# Rows as MOODS, columns as FEATURES.
MEANS = np.array(
    [
        [1.0, 0.3, 0.1, 0.45],
        [-0.9, 0.0, 0.9, 0.35],
        [-0.6, 0.1, -1.0, 0.3],
        [0.0, 1.0, 0.35, 1.0],
    ]
)


def make_faces(n: int = 120) -> Planted:
    """Make the faces of the demo, always the same ones; most have one mood, some a mixture.

    Features are how the mouth bends and opens, how the brows tilt, how wide the eyes are.

    Parameters
    ----------
    n : int, default=120
        Number of faces.

    Returns
    -------
    Planted
        The faces, and their shares of each mood: happy, sad, angry, surprised.

    Examples
    --------
    >>> faces = make_faces()
    >>> faces.X.shape, faces.memberships.shape
    ((120, 4), (120, 4))
    """
    check_number(n, "n", "make_faces", integer=True, minimum=1)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(len(MOODS), 0.15), size=n)
    X = shares @ MEANS + rng.normal(scale=0.07, size=(n, len(FEATURES)))
    return Planted(X=X, centers=weighted_centers(X, shares, 2.0), memberships=shares)
