"""Data with a known target: for theorems, tests, examples, and the paper's own experiment."""

from askmeans.datasets.faces import make_faces
from askmeans.datasets.messages import Messages, make_messages
from askmeans.datasets.planted import Planted, make_cores_and_arms, make_far_cluster
from askmeans.datasets.scenes import Scenes, make_scenes

__all__ = [
    "Messages",
    "Planted",
    "Scenes",
    "make_cores_and_arms",
    "make_faces",
    "make_far_cluster",
    "make_messages",
    "make_scenes",
]
