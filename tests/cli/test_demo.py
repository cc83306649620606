"""`askmeans demo`, run as a user runs it."""

import csv
import re
from pathlib import Path

import matplotlib.image
import pytest

from askmeans.datasets import make_faces
from askmeans.datasets.pictures import MOODS


@pytest.fixture(scope="module")
def demo(askmeans, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, askmeans("demo", "--out", "pictures", cwd=folder)


def rows_of(text):
    """The cells of all tables."""
    return [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in text.splitlines()]


def test_the_demo_shows_group_questions_with_the_experts_shares(demo):
    rows = [row for row in rows_of(demo[1].stdout) if len(row) == 2]
    faces, shares = make_faces(), {}
    for face, said in rows[1:]:
        shares[int(face.split()[-1])] = said
    assert len(shares) == 5
    for number, said in shares.items():
        best = faces.memberships[number - 1].argmax()
        assert said.startswith(f"{MOODS[best]} {faces.memberships[number - 1, best]:.0%}")


def test_the_demo_tells_its_error_within_the_band_it_expects(demo):
    rows = [row for row in rows_of(demo[1].stdout) if len(row) == 3]
    (expected,) = (row[2] for row in rows if row[0].startswith("mean error of a share"))
    alone, asked = map(float, [row for row in rows if row[0] == "in truth"][1][1:])
    _, low, high = map(float, re.findall(r"\d\.\d+", expected))
    assert low <= asked <= high
    assert asked < alone / 2
    assert demo[1].stderr == ""


def test_the_demo_counts_the_faces_in_the_wrong_mood(demo):
    rows = [row for row in rows_of(demo[1].stdout) if len(row) == 3]
    (expected,) = (row[2] for row in rows if row[0].startswith("faces in the wrong mood"))
    about, n, _, high = map(int, re.findall(r"\d+", expected))
    alone, asked = (
        int(text.split()[0]) for text in next(row for row in rows if row[0] == "in truth")[1:]
    )
    assert n == 120
    assert asked <= high
    assert asked < alone
    assert about < n / 4


def test_the_demo_draws_a_picture_where_it_says(demo):
    folder, done = demo
    assert "pictures/faces.png" in done.stdout
    picture = matplotlib.image.imread(folder / "pictures" / "faces.png")
    assert picture.shape[0] >= 500
    assert picture[..., :3].std() > 0.05  # not an empty page


def test_the_demo_says_what_to_do_next(demo):
    said = demo[1].stdout.split("faces.png")[-1]
    assert "demo --web" in said
    assert "demo --data" in said


def test_the_picture_in_the_documentation_is_the_demos(demo):
    kept = Path(__file__).parents[2] / "docs" / "images" / "faces.png"
    drawn, shown = (
        matplotlib.image.imread(path) for path in (demo[0] / "pictures/faces.png", kept)
    )
    assert drawn.shape == shown.shape
    assert abs(drawn - shown).mean() < 0.05  # which faces lie between moods may change


def test_the_demo_overwrites_no_file_that_it_did_not_make(askmeans, demo):
    folder, _ = demo
    (folder / "mine").mkdir()
    (folder / "mine" / "faces.png").write_bytes(b"my holidays")
    done = askmeans("demo", "--out", "mine", cwd=folder, ok=False)
    assert done.returncode == 1
    assert "use --out for another folder" in done.stderr
    assert (folder / "mine" / "faces.png").read_bytes() == b"my holidays"
    assert (
        b"askmeans demo" in (folder / "pictures" / "faces.png").read_bytes()
    )  # ours is known by it


def test_example_data_are_messages_and_pictures_that_fit_can_read(askmeans, tmp_path):
    done = askmeans("demo", "--data", cwd=tmp_path)
    assert done.stdout.split() == ["demo/messages.csv", "demo/later.csv", "demo/pictures"]
    with (tmp_path / "demo" / "messages.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 160
    assert {row["topic"] for row in rows} == {"delivery", "payment", "returns", "account"}
    assert len(list((tmp_path / "demo" / "pictures").glob("*.png"))) == 36
    said = askmeans("fit", "demo/pictures", "-k", "3", "--expert", "none", cwd=tmp_path)
    assert re.search(r"image +image +feature", said.stdout + said.stderr)


def test_example_data_overwrite_no_file_of_yours(askmeans, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "later.csv").write_text("mine")
    done = askmeans("demo", "--data", cwd=tmp_path, ok=False)
    assert done.returncode == 1
    assert "use --out for another folder" in done.stderr
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["later.csv"]
