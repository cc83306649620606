"""`askmeans demo`, run as a user runs it."""

from pathlib import Path

import matplotlib.image
import pytest


@pytest.fixture(scope="module")
def demo(askmeans, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, askmeans("demo", "--out", "pictures", cwd=folder)


def test_the_demo_prints_what_asking_costs_and_brings(demo):
    rows = [[cell.strip() for cell in line.split("│")] for line in demo[1].stdout.splitlines()]
    told = {row[1]: row[2:4] for row in rows if len(row) == 5}
    assert told["matched accuracy"] == ["89.33%", "100.00%"]
    assert told["questions asked"] == ["0", "40 of 450 possible"]
    assert told["rounds"][0] == "0"
    assert 5 <= int(told["rounds"][1]) <= 15
    assert demo[1].stderr == ""
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text().split())
    assert (
        "with 40 questions to a simulated expert (matched accuracy 89.33 % and 100.00 %)" in readme
    )


def test_the_demo_draws_a_picture_where_it_says(demo):
    folder, done = demo
    assert "pictures/iris.png" in done.stdout
    picture = matplotlib.image.imread(folder / "pictures" / "iris.png")
    assert picture.shape[0] >= 500
    assert picture[..., :3].std() > 0.05  # not an empty page


def test_the_demo_overwrites_no_file_that_it_did_not_make(askmeans, demo):
    folder, _ = demo
    (folder / "mine").mkdir()
    (folder / "mine" / "iris.png").write_bytes(b"my holidays")
    done = askmeans("demo", "--out", "mine", cwd=folder, ok=False)
    assert done.returncode == 1
    assert "use --out for another folder" in done.stderr
    assert (folder / "mine" / "iris.png").read_bytes() == b"my holidays"
    assert (
        b"askmeans demo" in (folder / "pictures" / "iris.png").read_bytes()
    )  # ours is known by it
