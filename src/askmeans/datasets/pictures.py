"""Pictures of the demo: faces by their features, and painted scenes; some are mixtures."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
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


SCENES = ("beach", "forest", "night")
_HEIGHT, _WIDTH = 96, 128  # pixels of a picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenes:
    """Pictures and their shares of the scenes.

    Parameters
    ----------
    images : ndarray of shape (n_pictures, height, width, 3)
        Red, green and blue, from 0 to 255.
    shares : ndarray of shape (n_pictures, 3)
        Shares of the scenes.
    names : tuple of str, default=("beach", "forest", "night")
        The scenes.
    """

    images: NDArray[np.uint8]
    shares: Floats
    names: tuple[str, ...] = SCENES


def make_scenes(n: int = 36) -> Scenes:
    """Paint the pictures of `askmeans demo --data`, always the same: every fourth has two scenes.

    Parameters
    ----------
    n : int, default=36
        Number of pictures.

    Returns
    -------
    Scenes
        The pictures and their shares.

    Examples
    --------
    >>> scenes = make_scenes()
    >>> scenes.images.shape, scenes.shares[3]
    ((36, 96, 128, 3), array([0.5, 0.5, 0. ]))
    """
    check_number(n, "n", "make_scenes", integer=True, minimum=1)
    rng = np.random.default_rng(0)
    shares, images = np.zeros((n, len(SCENES))), []
    for row in range(n):
        left, right = rng.permutation(len(SCENES))[:2]
        share = rng.choice([0.3, 0.5, 0.7]) if row % 4 == 3 else 1.0
        shares[row, [left, right]] = share, 1.0 - share
        images.append(_paint(left, right, share, rng).astype(np.uint8))
    return Scenes(images=np.array(images), shares=shares)


def _paint(left: int, right: int, share: float, rng: np.random.Generator) -> Floats:
    """A picture that is one scene on the left, as much of it as the share, and another beyond."""
    pixels = _scene(SCENES[left], rng)
    edge = round(share * pixels.shape[1])
    pixels[:, edge:] = _scene(SCENES[right], rng)[:, edge:]
    return pixels


def _scene(name: str, rng: np.random.Generator) -> Floats:
    """A beach, a forest or a city at night, in red, green and blue."""
    pixels = np.zeros((_HEIGHT, _WIDTH, 3))
    horizon = int(_HEIGHT * rng.uniform(0.45, 0.6))
    if name == "beach":
        pixels[:horizon] = (140, 200, 240)
        pixels[horizon : horizon + 14] = (40, 110, 180)
        pixels[horizon + 14 :] = (235, 210, 150)
    elif name == "forest":
        pixels[:] = (60, 130, 60)
        for column in rng.integers(0, _WIDTH - 6, size=9):
            pixels[8:, column : column + 6] = (90, 60, 35)
        pixels[_HEIGHT - 14 :] = (45, 90, 40)
    else:
        pixels[:] = (20, 22, 50)
        for column in range(4, _WIDTH - 12, 18):
            roof = int(rng.integers(20, horizon))
            pixels[roof:, column : column + 14] = (45, 45, 60)
            windows = rng.random((_HEIGHT, 3)) < 0.15
            for row, window in np.argwhere(windows[roof : _HEIGHT - 6]):
                x = column + 1 + 4 * window
                pixels[roof + row : roof + row + 3, x : x + 3] = (250, 220, 110)
    return (pixels + rng.normal(0, 8, size=pixels.shape)).clip(0, 255)
