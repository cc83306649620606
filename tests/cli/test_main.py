"""The installed command, as a process of its own: its entry point, exit codes and streams."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from askmeans import __version__

COMMAND = Path(sys.executable).parent / "askmeans"


def run(*words, cwd):
    return subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, cwd=cwd, check=False, timeout=300
    )


def test_results_go_to_standard_output_and_files_and_the_exit_code_is_0(folder):
    done = run("fit", "iris.csv", "-k", "3", "--expert", "none", "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json.loads((folder / "iris.summary.json").read_text())


def test_an_error_is_one_sentence_on_standard_error_and_the_exit_code_is_1(tmp_path):
    done = run("fit", "nowhere.csv", "-k", "3", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("askmeans: ")
    assert done.stderr.count("\n") == 1


def test_the_version_is_printed(askmeans, tmp_path):
    assert askmeans("--version", cwd=tmp_path).stdout == f"askmeans {__version__}\n"


def test_without_a_command_the_help_is_shown(tmp_path):
    done = run(cwd=tmp_path)
    assert "demo" in done.stdout + done.stderr


def test_the_help_lists_commands_under_headings(askmeans, tmp_path):
    shown = askmeans("--help", cwd=tmp_path).stdout
    headings = re.findall(r"^╭─ (\w+) ─", shown, re.MULTILINE)
    assert headings == ["Options", "Start", "Answer", "Groups", "People", "Data", "Admin"]
    start, answer = shown.partition("─ Start ─")[2].split("─ Answer ─")[:2]
    assert re.findall(r"^│ (\w+) ", start, re.MULTILINE) == ["demo", "plan", "fit", "init", "serve"]
    assert "groups" in answer.partition("─ Groups ─")[2].partition("─ People ─")[0]


def test_a_shell_gets_a_script_that_completes_commands_and_options(tmp_path):
    script = subprocess.run(
        ["bash", "-c", f"{COMMAND} --show-completion; true"], capture_output=True, text=True,
        check=True, cwd=tmp_path,
    ).stdout  # fmt: skip
    assert "complete -o default -F _askmeans_completion askmeans" in script
    (tmp_path / "complete.sh").write_text(script)

    def completed(*words):
        line = f"""
            source complete.sh
            COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}
            _askmeans_completion {COMMAND}
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert done.stderr == ""
        return done.stdout.split()

    assert completed("askmeans", "in") == ["init", "invite"]
    assert completed("askmeans", "init", "--nam") == ["--name", "--names"]
    assert completed("askmeans", "export", "--format", "p") == ["parquet"]


def test_the_variable_stands_for_the_database_and_for_nothing_else(askmeans, folder, monkeypatch):
    askmeans("init", "s.db", "iris.csv", "-k", 3, "--names", "a,b,c", cwd=folder)
    monkeypatch.setenv("ASKMEANS_DB", "s.db")
    assert "  1  d\n" in askmeans("groups", "--rename", "a", "d", cwd=folder).stdout
    assert "  1  a\n" in askmeans("groups", "s.db", "--rename", 1, "a", cwd=folder).stdout
    assert "  1  a\n" in askmeans("groups", cwd=folder).stdout
    assert "    p\n" in askmeans("groups", "refine", "a", "--names", "p,q", cwd=folder).stdout
    assert "  1  a\n" in askmeans("groups", "s.db", "flatten", "a", cwd=folder).stdout
    question = json.loads(askmeans("ask", "--json", cwd=folder).stdout)["questions"][0]["id"]
    assert "Kept: b" in askmeans("tell", question, "2", "--annotator", "me", cwd=folder).stdout
    assert "For ann, annotator" in askmeans("invite", "ann", cwd=folder).stdout
    assert "ann  annotator" in askmeans("invite", cwd=folder).stdout
    assert askmeans("tell", question, cwd=folder, ok=False).returncode == 2
    assert askmeans("status", "t.db", cwd=folder, ok=False).returncode == 1


def test_init_shows_its_stages_to_a_person_and_not_to_a_pipe(folder):
    words = ["iris.csv", "-k", "3"]
    terminal = pexpect.spawn(
        str(COMMAND), ["init", "s.db", *words], cwd=folder, encoding="utf-8", timeout=120,
        dimensions=(40, 120), env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    for stage in ("1 of 4: starting", "2 of 4: reading", "3 of 4: encoding 150 rows",
                  "4 of 4: grouping and saving", "next: askmeans serve"):  # fmt: skip
        terminal.expect_exact(stage)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert run("init", "t.db", *words, cwd=folder).stderr == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("init", "t.db", "iris.csv", "-k", 0), "askmeans: -k must be an int"),
        (("init", "t.db", "iris.csv", "-k", 3, "--names", "a,b"), "askmeans: --names must be 3"),
        (("budget", "s.db", 0), "askmeans: N must be an int"),
        (("invite", "s.db", "Ada", "--days", -1), "askmeans: --days must be"),
        (("groups", "s.db", "--add", ""), "askmeans: The 'name' parameter of Groups.add must be"),
    ],
)
def test_errors_name_the_options_that_were_typed(askmeans, folder, words, message):
    askmeans("init", "s.db", "iris.csv", "-k", 3, cwd=folder)
    done = askmeans(*words, cwd=folder, ok=False)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
