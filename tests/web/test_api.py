"""The API is what its description says: schemathesis tries, with all its checks."""

import subprocess
import sys
from pathlib import Path

import pytest
from soaking import in_soak

from askmeans import sessions
from askmeans.web import api

COMMAND = Path(sys.executable).parent / "schemathesis"
TOKEN = "t" * 43
PHASES = "examples,coverage,fuzzing,stateful"  # what schemathesis does, in its order


def run(address, folder, *headers, examples):
    """What schemathesis says of the API, with these headers."""
    return subprocess.run(
        [COMMAND, "run", f"{address}/api/openapi.json", f"--max-examples={examples}", "--seed=0",
         f"--phases={PHASES}",
         "--generation-deterministic", "--no-color", *(f"--header={told}" for told in headers)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("role", "examples"), [("owner", 6), in_soak("owner", 40), in_soak("annotator", 40)]
)
def test_schemathesis_finds_nothing_with_a_token(
    address, database, tmp_path, tools, role, examples
):
    with sessions.open(database) as session:
        session.ask(9, annotator="bob")  # so that there are questions to answer
        session.settings.set_option("annotators_see_results", True)
    token = tools.link_to(address, "bob", role).partition("=")[2]
    done = run(address, tmp_path, f"Authorization: Bearer {token}", examples=examples)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "Tested: 7" in done.stdout, done.stdout[-3000:]
    assert "❌" not in done.stdout, done.stdout[-3000:]


def test_without_a_token_schemathesis_does_not_even_get_the_description(address, tmp_path):
    done = run(address, tmp_path, examples=1)
    assert done.returncode != 0
    assert "401" in done.stdout + done.stderr


@pytest.mark.parametrize("headers", [{}, {"authorization": f"Bearer {TOKEN}"}])
def test_without_a_valid_token_every_operation_replies_401_and_changes_nothing(
    client, tools, headers
):
    whole = client.get("/api/openapi.json").json()
    session = client.app.state.context.session
    before = session.history.last_event
    body = {"question": 1, "key": "k", "value": 0.5}
    with tools.knocking(client.app) as stranger:
        count = 0
        for path, ways in whole["paths"].items():
            for way in ways:
                told = {"json": body} if way == "post" else {}
                reply = stranger.request(way, path.replace("{row}", "0"), headers=headers, **told)
                assert reply.status_code == 401, path
                assert "Sign in" in reply.json()["detail"]
                assert reply.headers["www-authenticate"] == "Bearer"
                assert "401" in whole["paths"][path][way]["responses"]
                count += 1
    assert count >= 7
    assert session.history.last_event == before
    assert session.status().leased == 0


@pytest.mark.parametrize(("model", "names"), [
    ("ReceiptOut", "annotator at event key kind late question repeated undone value"),
    ("UndoneOut", "kind question receipt value"),
    ("HoldingOut", "annotator question seconds"),
    ("StatusOut", "annotators answered budget error_basis estimated_error held holding leased left "
     "name notes open round settled state suggested_clusters suggestion"),
    ("ItemOut", "fields id image label row text"),
    ("ResultOut", "cluster_names complete confidence event expected_wrong expected_wrong_band ids "
     "memberships n_queries state unassigned"),
])  # fmt: skip
def test_what_is_told_is_chosen_a_new_field_of_a_record_is_not_public_by_itself(model, names):
    assert sorted(getattr(api, model).model_fields) == names.split()
