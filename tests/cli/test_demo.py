"""`askmeans demo`, run as a user runs it."""

import subprocess
import sys
from pathlib import Path

import matplotlib.image
import pytest


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    command = [Path(sys.executable).parent / "askmeans", "demo", "--out", "pictures"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return folder, done


def test_the_demo_prints_the_known_accuracy(demo):
    assert "89.33%" in demo[1].stdout
    assert demo[1].stderr == ""


def test_the_demo_draws_a_picture_where_it_says(demo):
    folder, done = demo
    assert "pictures/iris.png" in done.stdout
    picture = matplotlib.image.imread(folder / "pictures" / "iris.png")
    assert picture.shape[0] >= 500
    assert picture[..., :3].std() > 0.05  # not an empty page


def test_without_a_command_the_help_is_shown():
    done = subprocess.run(
        [Path(sys.executable).parent / "askmeans"], capture_output=True, text=True, check=False
    )
    assert "demo" in done.stdout + done.stderr
