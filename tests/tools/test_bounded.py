"""What `make test` needs of the system waits for nobody: not for a password, not for a network."""

import os
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
SCRIPTS = {
    "install-browser.sh": "the tests of the page that need it are skipped",
    "install-postgres.sh": "the tests of that store are skipped",
    "install-proxies.sh": "the tests of the documented proxies are skipped",
}
COMMANDS = ["bash", "dirname", "mkdir", "rm", "sleep"]  # of the real machine
HANGS = "exec sleep 600"
ASKS = 'read -r answer; [ "$answer" = yes ]'  # as sudo, a question of a package, a proxy's password


@pytest.fixture
def machine(tmp_path):
    """A machine with these commands, on which time is short; runs a script with nobody there."""
    bin_, venv, tools = tmp_path / "bin", tmp_path / "venv", tmp_path / "tools"
    for folder in (bin_, venv / "bin", tools):
        folder.mkdir(parents=True)
    for name in COMMANDS:
        (bin_ / name).symlink_to(f"/usr/bin/{name}")

    def command(path, body):
        path.write_text(f'#!/bin/bash\necho "{path.name} $*" >> {tmp_path}/called\n{body}\n')
        path.chmod(0o755)

    def run(name, *, user, **commands):
        # Nothing of the real machine is to be taken, or written to.
        for path in TOOLS.glob("*.sh"):
            text = path.read_text().replace("/etc/postgresql-common", str(tmp_path))
            (tools / path.name).write_text(text.replace(":/usr/sbin", f":{bin_}"))
            (tools / path.name).chmod(0o755)
        command(bin_ / "id", f"echo {user}")
        # Its options, the seconds that it may take, and the command; a second is enough here.
        command(bin_ / "timeout", 'exec /usr/bin/timeout "${@:1:3}" 1 "${@:5}"')
        playwright = commands.pop("playwright", "false")
        command(venv / "bin" / "python", f'[[ "$*" = *playwright* ]] || exit 1\n{playwright}')
        for called, body in commands.items():
            command(bin_ / called.replace("_", "-"), body)
        where = venv / ("axe" if "browser" in name else "bin/python")
        with subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE) as nobody:
            try:
                done = subprocess.run(
                    [tools / name, where], env={**os.environ, "PATH": str(bin_)},
                    stdin=nobody.stdout, capture_output=True, text=True, check=False, timeout=100,
                )  # fmt: skip
            finally:
                nobody.kill()
        return done, (tmp_path / "called").read_text().splitlines()

    return run


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("body", [HANGS, ASKS], ids=["hangs", "asks"])
@pytest.mark.parametrize("user", [0, 1000])
def test_what_waits_is_ended_and_what_needs_it_skipped_with_a_line(machine, name, body, user):
    done, called = machine(name, user=user, apt_get=body, npm=body, playwright=body, sudo=body)
    assert done.returncode == 1
    assert SCRIPTS[name] in done.stderr
    lists = [line for line in called if " update " in line]
    assert not any(line.startswith("sudo") for line in called)
    if user:
        assert lists == []
    else:  # asked for once, and for half a minute at most
        assert [line.split(" -")[0] for line in lists] == ["timeout", "apt-get update"]
        assert lists[0].startswith("timeout --foreground -k 5 30 ")


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_installation_that_stops_is_ended(machine, name):
    stops = f'[[ "$*" = *update* ]] || {HANGS}'
    done, called = machine(name, user=0, apt_get=stops, playwright="false")
    assert done.returncode == 1
    assert SCRIPTS[name] in done.stderr
    for line in called:  # what loses its connection ends by itself
        if line.startswith("apt-get"):
            assert "Acquire::Retries=0" in line
            assert "Acquire::http::Timeout=20" in line
