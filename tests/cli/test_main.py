"""The installed command, as a process of its own: its entry point, exit codes and streams."""

import json
import subprocess
import sys
from pathlib import Path

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
