"""What the tests of the page need is taken, fetched or named, with root and without."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "install-browser.sh"
COMMANDS = ["bash", "dirname", "mkdir"]  # of the real machine; nothing else is to be found


@pytest.fixture
def machine(tmp_path):
    """A machine with these commands; runs the script there and says what it called."""
    bin_, venv = tmp_path / "bin", tmp_path / "venv"
    bin_.mkdir()
    (venv / "bin").mkdir(parents=True)
    for name in COMMANDS:
        (bin_ / name).symlink_to(f"/usr/bin/{name}")

    def command(folder, name, body):
        path = folder / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> {tmp_path}/called\n{body}\n')
        path.chmod(0o755)

    def run(*, user, browser="false", shell="false", playwright="true", **commands):
        # The environment's python answers for both of its programs.
        shell = f'*"browsers.py shell") {shell};;'
        body = f'case "$*" in {shell} *browsers.py) {browser};; *) {playwright};; esac'
        command(venv / "bin", "python", body)
        command(bin_, "id", f"echo {user}")
        for name, body in commands.items():
            command(bin_, name.replace("_", "-"), body)
        done = subprocess.run(
            [SCRIPT, venv / "axe"], env={**os.environ, "PATH": str(bin_)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done, (tmp_path / "called").read_text()

    return run


FOUND_LATER = "[ -e $0.fetched ]"
FETCH = ": > $0.fetched"


def test_what_is_there_is_taken(machine):
    for options in ({"user": 1000, "browser": "true"}, {"user": 0, "shell": "true"}):
        done, called = machine(**options, npm="true", apt_get="true")
        assert done.returncode == 0, done.stderr
        assert "playwright" not in called
        assert "apt-get" not in called


def test_without_root_playwright_fetches_a_browser_for_the_user_alone(machine):
    done, called = machine(
        user=1000, browser=FOUND_LATER, playwright=FETCH, npm="true", apt_get="true"
    )
    assert done.returncode == 0, done.stderr
    assert "python -m playwright install chromium" in called
    assert "apt-get" not in called


def test_root_installs_debians_package(machine):
    done, called = machine(user=0, npm="true", apt_get="true")
    assert done.returncode == 0, done.stderr
    assert "--no-install-recommends chromium chromium-headless-shell" in called
    assert "playwright" not in called


def test_root_installs_the_whole_one_where_there_is_no_other(machine):
    done, called = machine(user=0, npm="true", apt_get='[[ "$*" != *shell* ]]')
    assert done.returncode == 0, done.stderr
    assert "apt-get install -y -qq --no-install-recommends chromium fonts" in called
    assert "playwright" not in called


def test_a_whole_one_will_do_where_no_other_can_be_had(machine):
    done, called = machine(user=0, browser="true", npm="true", apt_get="false")
    assert done.returncode == 0, done.stderr
    assert "playwright" not in called


def test_where_debian_fails_playwright_is_tried(machine):
    done, called = machine(
        user=0, browser=FOUND_LATER, playwright=FETCH, npm="true", apt_get="false"
    )
    assert done.returncode == 0, done.stderr
    assert "python -m playwright install chromium" in called


def test_what_is_missing_is_named_with_the_remedy(machine):
    done, _ = machine(user=1000, playwright="false")
    assert done.returncode == 1
    assert "askmeans: no chromium, so the tests of the page that need it are skipped" in done.stderr
    assert "sudo apt-get install chromium" in done.stderr
    assert "askmeans: no axe-core" in done.stderr
    assert "sudo apt-get install npm" in done.stderr
    done, _ = machine(user=1000, browser="true", npm="false")
    assert done.returncode == 1
    assert "npm could not install it" in done.stderr


def test_why_playwright_fetched_nothing_is_told_once(machine):
    tries = "for i in 1 2 3; do echo 'Error: no such host'; echo '  at lookup'; done >&2; false"
    done, _ = machine(user=1000, playwright=tries, npm="true")
    assert done.returncode == 1
    assert done.stderr.count("no such host") == 1
    assert len(done.stderr.splitlines()) == 3  # the reason, what is missing, how to get it
