"""Structured logs: every request is told, and no answer, token or name is."""

import io
import json
import logging
import sys
from unittest import mock

import pytest

from askmeans import sessions
from askmeans.web import create_app
from askmeans.web.logs import log_as_json


@pytest.fixture
def lines():
    """What is logged as JSON; the settings of before come back."""
    root, out = logging.getLogger(), io.StringIO()
    before = root.handlers[:], root.level, logging.getLogger("askmeans.requests").level
    with mock.patch.object(sys, "stderr", out):
        log_as_json()
        yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    logging.getLogger("askmeans.requests").setLevel(before[2])


def test_an_answer_is_told_by_its_path_alone_and_its_event_knows_where_it_came_from(
    database, tools, lines
):
    with tools.using(create_app(database, settle_seconds=0.0), "Ada Lovelace") as client:
        token, mark = tools.token_of(client), client.app.state.context.assignments.mark
        client.get("/?token=secret-token")
        client.get("/")
        form = {"token": token, "session": mark, "annotator": "Ada Lovelace", "question": "1",
                "key": "k-1", "value": "0.4321"}  # fmt: skip
        assert client.post("/answer", data=form).status_code == 303
    told = lines()
    assert [(line["method"], line["path"], line["status"]) for line in told[-2:]] == [
        ("GET", "/", 200), ("POST", "/answer", 303)
    ]  # fmt: skip
    assert set(told[-1]) == {"at", "level", "logger", "message", "method", "path", "status", "ms",
                             "address"}  # fmt: skip
    whole = json.dumps(told)
    for secret in ("0.4321", "Lovelace", token, "secret-token", "k-1"):
        assert secret not in whole
    with sessions.open(database) as session:
        assert session.history.audit()[-1].client == "page from 127.0.0.1"


def test_of_an_error_its_type_and_place_are_told_and_not_what_it_says(database, tools, lines):
    with tools.using(create_app(database)) as client:
        session = client.app.state.context.session
        crash = ZeroDivisionError("answer 0.4321")
        with mock.patch.object(session.history, "answers", side_effect=crash):
            assert client.get("/history").status_code == 500
    (failure,) = [line for line in lines() if line["level"] == "error"]
    assert failure["error"] == "ZeroDivisionError"
    assert any("pages.py" in place for place in failure["where"])
    assert "0.4321" not in json.dumps(failure)
    assert any(line.get("status") == 500 for line in lines())
