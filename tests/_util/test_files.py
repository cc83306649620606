"""Files that are written whole or not at all."""

import os
from contextlib import suppress

from askmeans._util.files import atomic_file


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with suppress(KeyboardInterrupt), atomic_file(path) as file:
        file.write(b"half of")
        raise KeyboardInterrupt
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old", [path])
    with atomic_file(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert (path.read_text(), list(tmp_path.iterdir())) == ("new", [path])


def test_a_link_in_the_place_of_its_draft_is_not_followed(tmp_path):
    path, precious = tmp_path / "a.csv", tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f"a.csv.{os.getpid()}.part").symlink_to(precious)
    with atomic_file(path) as file:
        file.write(b"new")
    assert precious.read_text() == "mine"
    assert (path.read_text(), path.is_symlink()) == ("new", False)
