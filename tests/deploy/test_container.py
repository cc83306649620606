"""The container file and the compose example, as far as they can be tested without an engine.

No image is built here. What is copied and installed is checked against the repository, and the
command and the health check run as they are written, against a real PostgreSQL.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from askmeans import sessions

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "Containerfile"
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())


def steps():
    """The instructions of the container file, in order."""
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    return [line.split(" ", 1) for line in lines]


def only(name):
    """The one instruction of this name."""
    (found,) = [rest for step, rest in steps() if step == name]
    return found


def words_of(name):
    """The command of an instruction, as words."""
    return json.loads(only(name).partition("[")[1] + only(name).partition("[")[2])


def test_everything_copied_is_in_the_repository_and_enough_to_build_the_package():
    copied = {word for step, rest in steps() if step == "COPY" for word in rest.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"pyproject.toml", project["readme"], *project["license-files"], "src"} <= copied


def test_what_is_installed_exists_and_is_what_the_command_needs():
    (install,) = [rest for step, rest in steps() if step == "RUN" and "pip install" in rest]
    extras = set(re.search(r"\.\[(.*)\]", install).group(1).split(","))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extras <= set(project["optional-dependencies"])
    assert {"serve", "postgres"} <= extras
    assert "--constraint constraints.txt" in install
    minor = re.fullmatch(r"python:(3\.\d+)-slim", only("FROM")).group(1)
    assert f"Programming Language :: Python :: {minor}" in project["classifiers"]


def test_every_shell_line_is_one():
    for step, rest in steps():
        if step == "RUN":
            subprocess.run(["bash", "-n", "-c", rest], check=True)


def test_the_page_does_not_run_as_root():
    names = [step for step, _ in steps()]
    assert names.index("USER") < names.index("CMD")
    assert only("USER") != "root"


def test_the_compose_example_fits_the_container_file_and_has_no_password_in_it():
    page, db = COMPOSE["services"]["page"], COMPOSE["services"]["db"]
    build = page["build"]
    assert (ROOT / "deploy" / build["context"] / build["dockerfile"]).resolve() == FILE
    assert page["depends_on"]["db"]["condition"] == "service_healthy"
    assert "test" in db["healthcheck"]
    secrets = [page["environment"]["PGPASSWORD"], db["environment"]["POSTGRES_PASSWORD"]]
    assert all(re.fullmatch(r"\$\{ASKMEANS_DB_PASSWORD:\?[^}]+\}", each) for each in secrets)
    url = page["environment"]["ASKMEANS_DB"]
    port, _, inside = db["ports"][0].removeprefix("127.0.0.1:").partition(":")
    user, name = db["environment"]["POSTGRES_USER"], db["environment"]["POSTGRES_DB"]
    assert url == f"postgresql://{user}@127.0.0.1:{port}/{name}"
    assert inside == "5432"
    (volume,) = [each.partition(":")[0] for each in db["volumes"]]
    assert volume in COMPOSE["volumes"]


@pytest.fixture
def served(postgres_url, tmp_path):
    """The container's command, running on a port it found free; its process, port and log."""
    sessions.create(postgres_url, [[1.0], [2.0], [8.0]], n_clusters=2, random_state=0).close()
    program, *words = words_of("CMD")
    assert program == "askmeans"
    words = ["0" if word == only("EXPOSE") else word for word in words]
    assert "0" in words
    told = tmp_path / "log"
    with told.open("wb") as log:
        process = subprocess.Popen(
            [Path(sys.executable).with_name(program), *words],
            env={**os.environ, "ASKMEANS_DB": postgres_url}, stdout=log, stderr=log, cwd=tmp_path,
        )  # fmt: skip
    for _ in range(600):
        page = re.search(r"^page: http://127\.0\.0\.1:(\d+)/ ", told.read_text(), re.M)
        if page or process.poll() is not None:
            break
        time.sleep(0.1)
    assert page, told.read_text()
    yield process, page[1], told
    process.kill()
    process.wait()


def check_health(port):
    """Run the health check as it is written; whether it is content."""
    program, *words = words_of("HEALTHCHECK")
    assert program == "python"
    words = [word.replace(f":{only('EXPOSE')}/", f":{port}/") for word in words]
    return subprocess.run([sys.executable, *words], capture_output=True, check=False).returncode


def test_the_command_serves_is_healthy_logs_json_and_stops_when_told(served):
    process, port, log = served
    assert check_health(port) == 0
    process.send_signal(getattr(signal, only("STOPSIGNAL")))
    assert process.wait(60) == 0
    lines = [line for line in log.read_text().splitlines() if line.startswith("{")]
    assert json.loads(lines[0])["path"] == "/healthz"
    assert check_health(port) != 0
