"""Small copies of pictures: made once, anew when the picture changes, and never in the way."""

import os

import numpy as np
import pytest
from PIL import Image

from askmeans.tables.thumbnails import thumbnail


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
