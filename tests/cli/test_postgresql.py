"""The commands on a PostgreSQL database: as on a file, and no password in what they say."""

import json

import pytest


@pytest.fixture
def url(postgres_url):
    """A URL with a password in it; the server asks for none."""
    return postgres_url.replace("tests@", "tests:secret-word@")


def test_a_session_is_made_answered_copied_and_exported(
    askmeans, url, postgres_url, tmp_path, monkeypatch
):
    def run(*words, ok=True):
        return askmeans(*words, cwd=tmp_path, ok=ok)

    (tmp_path / "d.csv").write_text("a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(12)))
    said = [run("init", url, "d.csv", "-k", "2")]
    monkeypatch.setenv("ASKMEANS_DB", url)
    asked = run("ask", "--json")
    question = json.loads(asked.stdout)["questions"][0]["id"]
    said += [asked, run("tell", str(question), "1"), run("status")]
    said += [run("export"), run("backup", "kept.db"), run("upgrade", url)]
    said += [run("copy", url, "copied.db"), run("copy", url, url, ok=False)]
    said += [run("status", "copied.db"), run("serve", url, "--port", "70000", ok=False)]
    name = postgres_url.partition("@/")[2].partition("?")[0]
    assert f"database: {postgres_url}" in said[3].stdout
    assert (tmp_path / f"{name}.memberships.csv").exists()
    assert "answered: 1" in said[9].stdout
    for each in said:
        assert "secret-word" not in each.stdout + each.stderr
    for file in tmp_path.iterdir():
        assert b"secret-word" not in file.read_bytes(), file
