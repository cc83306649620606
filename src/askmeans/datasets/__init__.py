"""Data with a known target, for theorems, tests and examples."""

from askmeans.datasets.messages import make_messages
from askmeans.datasets.pictures import make_faces, make_scenes
from askmeans.datasets.planted import make_cores_and_arms

__all__ = [
    "make_cores_and_arms",
    "make_faces",
    "make_messages",
    "make_scenes",
]
