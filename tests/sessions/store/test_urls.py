"""Where databases are, and that no password is ever shown."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from askmeans import sessions
from askmeans.exceptions import ParameterError
from askmeans.sessions.store import display_url, file_of, is_postgresql, output_stem, thumbnails_of
from askmeans.sessions.store.urls import connection_string


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("postgresql://ada:secret@db.example:5433/team", "postgresql://ada@db.example:5433/team"),
        ("postgres://ada:secret@db/team?sslmode=require",
         "postgresql://ada@db/team?sslmode=require"),
        ("postgresql+psycopg://db/team?password=secret&sslpassword=secret",
         "postgresql://db/team"),
        ("postgresql://a%40b:secret@h1:1,h2:2/my%20team", "postgresql://a%40b@h1:1,h2:2/my%20team"),
        ("postgresql://ada:secret@/team?host=/run/pg&port=5433",
         "postgresql://ada@/team?host=/run/pg&port=5433"),
        ("postgresql://ada:secret@[::1]:5432/team", "postgresql://ada@[::1]:5432/team"),
    ],
)  # fmt: skip
def test_a_url_is_shown_without_its_password_and_means_the_same(url, seen):
    from psycopg.conninfo import conninfo_to_dict

    assert is_postgresql(url)
    assert display_url(url) == seen
    assert display_url(seen) == seen
    meant = conninfo_to_dict(connection_string(url))
    assert conninfo_to_dict(seen) == {
        key: value for key, value in meant.items() if "password" not in key
    }


@pytest.mark.parametrize(
    "url",
    ["postgresql://ada:my secret@db/team", "postgresql://ada:secret@db/team?nonsense=secret",
     "mysql://ada:secret@db/team"],
)  # fmt: skip
def test_a_url_that_cannot_be_read_is_refused_without_showing_it(url):
    for attempt in (display_url, sessions.open):
        with pytest.raises(ParameterError, match="'url' parameter must be") as error:
            attempt(url)
        chain = [error.value, error.value.__context__, error.value.__cause__]
        assert "secret" not in str(error.value)
        assert error.value.__suppress_context__ or chain[1] is None


def test_a_path_is_shown_as_the_file_it_names(tmp_path):
    assert not is_postgresql(tmp_path / "s.db")
    assert display_url(f"sqlite:///{tmp_path}/s.db") == str(file_of(tmp_path / "s.db"))


def test_files_go_beside_a_file_or_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output_stem("data/s.db") == tmp_path / "data" / "s"
    assert output_stem("postgresql://db/team%2Fone") == tmp_path / "team_one"
    assert thumbnails_of("s.db") == tmp_path / "s.db.thumbnails"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one, other = (thumbnails_of(f"postgresql://db/{name}") for name in ("a", "b"))
    assert one.parent == other.parent == Path(tmp_path / "cache" / "askmeans")
    assert one != other


def test_a_missing_driver_names_the_line_that_installs_it():
    code = textwrap.dedent(
        """
        import sys
        sys.modules["psycopg"] = None
        from askmeans import sessions
        from askmeans.exceptions import MissingExtraError
        try:
            sessions.open("postgresql://db/team")
        except MissingExtraError as error:
            assert 'pip install "askmeans[postgres]"' in str(error), error
        else:
            raise SystemExit("no error")
        """
    )
    subprocess.run([sys.executable, "-c", code], check=True)
