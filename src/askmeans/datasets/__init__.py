"""Data with a known target, for theorems, tests and examples."""

from askmeans.datasets.faces import make_faces
from askmeans.datasets.messages import make_messages
from askmeans.datasets.planted import make_cores_and_arms
from askmeans.datasets.scenes import make_scenes

__all__ = [
    "make_cores_and_arms",
    "make_faces",
    "make_messages",
    "make_scenes",
]
