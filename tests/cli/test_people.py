"""Links for people, made, listed and ended on the command line."""

import json
import re

import pytest

from askmeans import sessions


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """A session in either store."""
    found = tmp_path / "s.db"
    if request.param == "postgresql":
        found = request.getfixturevalue("postgres_url")
    sessions.create(found, [[1.0], [2.0], [8.0]], n_clusters=2, random_state=0).close()
    return found


def test_a_link_lets_one_person_in_is_listed_with_its_last_use_and_is_ended(
    askmeans, place, tmp_path
):
    assert "No invitations yet" in askmeans("invite", place, cwd=tmp_path).stdout
    at = ("--address", "https://q.example.org/")
    made = askmeans("invite", place, "Ada L.", "--role", "owner", *at, cwd=tmp_path).stdout
    (token,) = re.findall(r"^https://q\.example\.org/\?token=([\w-]{43})$", made, re.M)
    askmeans("invite", place, "Bo", "--days", "2", cwd=tmp_path)
    with sessions.open(place) as session:
        person = session.people.person_of(token)
        assert (person.name, person.role) == ("Ada L.", "owner")
    listed = askmeans("invite", place, cwd=tmp_path).stdout
    assert token not in listed
    ada, bo = listed.splitlines()[1:]
    assert re.match(r"1  Ada L\.  owner  valid  until \S+ \S+Z  last used 20", ada)
    assert re.match(r"2  Bo  annotator  valid  .*never used", bo)
    ended = askmeans("invite", place, "--revoke", "Ada L.", cwd=tmp_path).stdout
    assert "Ada L.  owner  revoked" in ended
    askmeans("invite", place, "--revoke", "2", cwd=tmp_path)
    told = json.loads(askmeans("invite", place, "--json", cwd=tmp_path).stdout)["invites"]
    assert [one["state"] for one in told] == ["revoked", "revoked"]
    with sessions.open(place) as session:
        assert session.people.person_of(token) is None
    failed = askmeans("invite", place, "--revoke", "Ada L.", cwd=tmp_path, ok=False)
    assert (failed.returncode, "there are: none" in failed.stderr) == (1, True)


def test_the_database_may_come_from_the_environment(askmeans, place, tmp_path, monkeypatch):
    monkeypatch.setenv("ASKMEANS_DB", str(place))
    assert "/?token=" in askmeans("invite", "Ada", cwd=tmp_path).stdout
    assert "1  Ada  annotator  valid" in askmeans("invite", cwd=tmp_path).stdout
