"""Pictures as features: colours, places and edges; what is no picture is told."""

import io
import os
from contextlib import suppress

import datasets
import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from askmeans.exceptions import DataError
from askmeans.tables import read_items
from askmeans.tables.pictures import describe_pictures, open_picture, thumbnail

RNG = np.random.default_rng(0)


def picture(colour, stripes=None, size=(40, 30)):
    """A noisy picture of a colour, with dark stripes down or across."""
    pixels = np.clip(np.array(colour) + RNG.normal(0, 10, (*size[::-1], 3)), 0, 255)
    if stripes == "down":
        pixels[:, ::8] = 0
    if stripes == "across":
        pixels[::8] = 0
    return Image.fromarray(pixels.astype(np.uint8))


def as_bytes(image, kind="PNG"):
    """An image's file."""
    file = io.BytesIO()
    image.save(file, kind)
    return file.getvalue()


def test_pictures_of_one_colour_or_direction_lie_together():
    looks = [((200, 40, 40), None), ((40, 40, 200), None), ((128, 128, 128), "down"),
             ((128, 128, 128), "across")]  # fmt: skip
    values = [as_bytes(picture(*looks[row % 4])) for row in range(40)]
    features = read_items({"photo": values}).features
    for row in range(4):
        distances = np.linalg.norm(features - features[row], axis=1)
        same = np.arange(40) % 4 == row
        assert distances[same].max() < distances[~same].min()


def test_a_path_the_bytes_and_a_dataset_s_dictionary_are_the_same_picture(tmp_path):
    image = picture((10, 200, 100))
    image.save(tmp_path / "a.png")
    raw = as_bytes(image)
    table, wrong = describe_pictures(["a.png", raw, {"bytes": raw, "path": None}], tmp_path)
    assert not wrong
    np.testing.assert_array_equal(table[0], table[1])
    np.testing.assert_array_equal(table[0], table[2])


def test_turned_by_its_camera_is_turned_back():
    image = picture((100, 100, 100), size=(40, 20))
    exif = image.getexif()
    exif[0x0112] = 6  # turned by a quarter
    file = io.BytesIO()
    image.save(file, "JPEG", exif=exif)
    assert open_picture(file.getvalue(), None).size == (20, 40)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "I;16"])
def test_every_mode_of_pictures_is_read(mode):
    image = Image.new("I;16", (9, 9)) if mode == "I;16" else picture((9, 99, 199)).convert(mode)
    table, wrong = describe_pictures([as_bytes(image, "TIFF")], None)
    assert (np.isfinite(table).all(), wrong) == (True, {})


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"no image", "not an image, or a broken one"),
        (as_bytes(picture((1, 2, 3)))[:300], "not an image, or a broken one"),
        ("nowhere.png", "no such file"),
        ("a\0b.png", "no such file"),
    ],
)
def test_what_is_no_image_is_told_by_row(tmp_path, value, why):
    table, wrong = describe_pictures([as_bytes(picture((1, 2, 3))), value, None], tmp_path)
    assert wrong == {1: why}
    assert np.isnan(table).all(axis=1).tolist() == [False, True, True]


@pytest.mark.parametrize("size", [(8000, 6251), (20_000, 10_000)])
def test_a_picture_of_more_than_50_megapixels_is_refused(size):
    large = as_bytes(Image.new("1", size))
    _, wrong = describe_pictures([large], None)
    assert wrong == {0: "larger than 50 megapixels"}


def test_a_picture_of_50_megapixels_is_read():
    _, wrong = describe_pictures([as_bytes(Image.new("1", (8000, 6250)))], None)
    assert not wrong


POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 90 90\n%%EndComments\nshowpage\n%%EOF\n"


@pytest.fixture
def ghostscript(tmp_path, monkeypatch):
    """A file that is there once anybody has started Ghostscript."""
    trace = tmp_path / "started"
    program = tmp_path / "bin" / "gs"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho run >> {trace}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", None)  # look for it anew
    return trace


def test_postscript_called_a_png_starts_no_program(tmp_path, ghostscript):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for place in range(3):
        picture((60 * place, 0, 0)).save(folder / f"{place}.png")
    (folder / "a.png").write_bytes(POSTSCRIPT + b"%" * 100_000)
    items = read_items(folder)
    assert "1 of 4 cannot be read (a.png: not an image, or a broken one)" in items.notes[0]
    assert thumbnail(folder / "a.png", tmp_path / "thumbnails").suffix == ".svg"
    assert not ghostscript.exists()
    with Image.open(folder / "a.png") as file, suppress(OSError):
        file.load()
    assert ghostscript.exists()  # as it would have been started


def test_images_that_are_none_are_named_and_filled_or_refused(tmp_path):
    for row in range(4):
        picture((60 * row, 0, 0)).save(tmp_path / f"{row}.png")
    (tmp_path / "2.png").write_bytes(b"no image")
    items = read_items(tmp_path)
    assert "1 of 4 cannot be read (2.png: not an image, or a broken one)" in items.notes[0]
    assert np.isfinite(items.features).all()
    with pytest.raises(DataError, match=r"Column image must have no missing values. .* \(2\)"):
        read_items(tmp_path, missing="refuse")
    assert read_items(tmp_path, missing="drop").ids == ["0", "1", "3"]


def test_pictures_in_a_hugging_face_dataset_are_features_and_not_shown_as_bytes():
    rows = {"image": [picture((60 * row, 0, 0)) for row in range(4)], "label": [0, 1, 0, 1]}
    features = datasets.Features({"image": datasets.Image(), "label": datasets.Value("int64")})
    items = read_items(datasets.Dataset.from_dict(rows, features))
    assert items.recipe.columns[0].kind == "image"
    assert items.shown.columns.tolist() == []  # labels would tell the answers
    assert items.features.shape[0] == 4


@pytest.fixture
def large(tmp_path):
    """A picture that is too large to serve often."""
    pixels = np.random.default_rng(0).integers(0, 255, (600, 900, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "large.png")
    return tmp_path / "large.png"


def test_a_thumbnail_is_small_and_made_once_for_each_state_of_the_picture(large, tmp_path):
    small = thumbnail(large, tmp_path / "thumbnails")
    with Image.open(small) as image:
        assert image.size == (480, 320)
    assert small.stat().st_size < large.stat().st_size / 4
    made = small.stat().st_mtime_ns
    assert thumbnail(large, tmp_path / "thumbnails") == small
    assert small.stat().st_mtime_ns == made
    os.utime(large, ns=(0, 0))
    assert thumbnail(large, tmp_path / "thumbnails") != small


def test_a_turned_a_transparent_and_a_palette_picture_have_right_thumbnails(large, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it to the right
    noise = Image.open(large)
    noise.save(tmp_path / "turned.jpg", exif=exif, quality=95)
    clear = noise.convert("RGBA")
    clear.paste((255, 0, 0, 0), (0, 0, 450, 600))
    clear.save(tmp_path / "clear.png")
    noise.quantize(256).save(tmp_path / "palette.png")
    found = {}
    for name in ("turned.jpg", "clear.png", "palette.png"):
        with Image.open(thumbnail(tmp_path / name, tmp_path / "thumbnails")) as image:
            found[name] = image.size, image.getpixel((30, 30))
    assert found["turned.jpg"][0] == (320, 480)
    assert found["clear.png"][0] == (480, 320)
    assert min(found["clear.png"][1]) > 245  # white, not what lies under it
    assert found["palette.png"][0] == (480, 320)


def test_what_has_no_thumbnail_is_served_as_it_is(large, tmp_path):
    little = tmp_path / "little.png"
    Image.new("RGB", (9, 9)).save(little)
    drawing = tmp_path / "drawing.svg"
    drawing.write_text("<svg>" + " " * 100_000 + "</svg>")
    for picture in (little, drawing, tmp_path / "gone.png"):
        assert thumbnail(picture, tmp_path / "thumbnails") == picture
    assert thumbnail(large, large / "no folder") == large
    assert not (tmp_path / "thumbnails").exists()


@pytest.mark.parametrize("size", [3_000, 100_000])
def test_a_picture_that_cannot_be_read_has_a_placeholder(large, tmp_path, size):
    whole = large.read_bytes()
    broken = {"cut.png": whole[:size], "text.png": b"no picture" * (size // 10),
              "turned.gif": b"GIF89a" + whole[:size]}  # fmt: skip
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        small = thumbnail(tmp_path / name, tmp_path / "thumbnails")
        assert "cannot be read" in small.read_text(encoding="utf-8"), name
        assert small.suffix == ".svg"
