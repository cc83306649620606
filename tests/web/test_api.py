"""The API is what its description says: schemathesis tries, with all its checks."""

import subprocess
import sys
from pathlib import Path

from askmeans import sessions

COMMAND = Path(sys.executable).parent / "schemathesis"
TOKEN = "t" * 43


def test_schemathesis_finds_nothing(address, database, tmp_path):
    with sessions.open(database) as session:
        session.ask(9, annotator="bob")  # so that there are questions to answer
    done = subprocess.run(
        [COMMAND, "run", f"{address}/api/openapi.json", "--max-examples=15", "--seed=0",
         "--generation-deterministic", "--no-color", f"--header=X-CSRF-Token: {TOKEN}",
         f"--header=Cookie: askmeans_token={TOKEN}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "No issues found" in done.stdout, done.stdout[-3000:]
