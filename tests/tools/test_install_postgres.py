"""PostgreSQL's programs are taken, fetched or named, with root and without."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "install-postgres.sh"


@pytest.fixture
def machine(tmp_path):
    """A machine with these commands only; runs the script there and says what it called."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name in ("bash", "dirname"):
        (bin_ / name).symlink_to(f"/usr/bin/{name}")

    def run(**commands):
        for name, body in {"mkdir": "true", **commands}.items():
            path = bin_ / name.replace("_", "-")
            path.write_text(f'#!/bin/bash\necho "{path.name} $*" >> {tmp_path}/called\n{body}\n')
            path.chmod(0o755)
        # Nothing of the real machine is to be written to.
        script = tmp_path / "tools" / SCRIPT.name
        script.parent.mkdir(exist_ok=True)
        script.write_text(SCRIPT.read_text().replace("/etc/postgresql-common", str(tmp_path)))
        shutil.copy(SCRIPT.with_name("bounded.sh"), script.parent)
        done = subprocess.run(
            ["bash", script, bin_ / "python"], env={**os.environ, "PATH": str(bin_)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done, (tmp_path / "called").read_text()

    return run


def test_what_is_there_is_taken(machine):
    done, called = machine(python="true", id="echo 0", apt_get="true")
    assert done.returncode == 0, done.stderr
    assert "apt-get" not in called


def test_root_installs_debians_package_without_a_cluster(machine, tmp_path):
    done, called = machine(python="false", id="echo 0", apt_get="true")
    assert done.returncode == 0, done.stderr
    assert "apt-get install -y -qq --no-install-recommends postgresql" in called
    assert "create_main_cluster = false" in (tmp_path / "createcluster.conf").read_text()


@pytest.mark.parametrize(("user", "apt"), [("1000", "true"), ("0", "false")])
def test_what_is_missing_is_named_with_the_remedy(machine, user, apt):
    done, _ = machine(python="false", id=f"echo {user}", apt_get=apt)
    assert done.returncode == 1
    assert "no PostgreSQL, so the tests of that store are skipped" in done.stderr
    assert "sudo apt-get install postgresql" in done.stderr
