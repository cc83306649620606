"""What commands print: nothing in the data, or in a name, speaks to the terminal."""

import pandas as pd
import pytest

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e"


@pytest.fixture
def evil(tmp_path):
    """A table whose ids, texts, classes and columns are full of escapes."""
    rows = range(6)
    frame = pd.DataFrame(
        {
            f"x{EVIL}": [1.5, 2.25, 3.0, 800.0, 9000.5, 10000.0],
            f"y{EVIL}": [0.1, 0.2, 0.1, 0.2, 0.1, 0.3],
            f"id{EVIL}": [f"i{row}{EVIL}" for row in rows],
            f"story{EVIL}": [f"once{row} {EVIL}" for row in rows],
            f"class{EVIL}": [f"c{row // 3}{EVIL}" for row in rows],
        }
    )
    frame.to_parquet(tmp_path / "d.parquet")
    return tmp_path


def test_no_escape_in_the_data_reaches_the_terminal(askmeans, evil):
    written = []

    def run(*words, text_in=""):
        done = askmeans(*words, cwd=evil, text_in=text_in, ok=False)
        assert "Traceback" not in done.stderr
        written.append(done.stdout + done.stderr)
        return done

    about = ("--id", f"id{EVIL}", "--text", f"story{EVIL}", "--image", f"class{EVIL}")
    assert run("init", "s.db", "d.parquet", "-k", 2, *about).returncode == 1  # no images
    about = (*about, "--features", f"x{EVIL},y{EVIL},story{EVIL}")
    assert run("init", "s.db", "d.parquet", "-k", 2, *about).returncode == 0
    assert run("ask", "s.db").returncode == 0
    run("answer", "s.db", text_in="1\nq\n")
    run("status", "s.db")
    run("export", "s.db")
    run("import", "s.db", "s.answers.csv")
    (evil / "own.csv").write_text(f'item,cluster,value\n"{EVIL}",0,1\n')
    run("import", "s.db", "own.csv")
    run("fit", "d.parquet", "-k", 2, "--id", f"id{EVIL}", "--out", "f", text_in="1\nq\n")
    run("fit", "d.parquet", "-k", 2, "--expert", f"labels:class{EVIL}", "--out", "g")
    run("fit", "d.parquet", "-k", 2, "--features", EVIL)
    everything = "\n".join(written)
    assert everything.count("owned") > 20  # it was all there, and harmless
    assert not set(everything) & set(EVIL.replace("]0;owned", "").replace("[2J", "")) - set("31m")


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\udcff"])
def test_names_with_control_characters_are_refused_wherever_they_come_in(askmeans, evil, name):
    assert askmeans("init", "s.db", "d.parquet", "-k", 2, cwd=evil).returncode == 0
    for words in (
        ("init", "t.db", "d.parquet", "-k", 2, "--names", f"{name},b"),
        ("init", "t.db", "d.parquet", "-k", 2, "--name", name),
        ("fit", "d.parquet", "-k", 2, "--names", f"{name},b"),
        ("ask", "s.db", "--annotator", name),
        ("tell", "s.db", 1, 1, "--annotator", name),
        ("status", "s.db", "--annotator", name),
        ("groups", "s.db", "--rename", 1, name),
    ):
        done = askmeans(*words, cwd=evil, ok=False)
        assert done.returncode == 1, words
        assert "must be a name of 1 to 200 characters" in done.stderr
