"""`askmeans panel`: a model answers ahead through a real server, and what rests on it is told."""

import json
import re
import sqlite3

import numpy as np
import pytest
from injections import INJECTIONS, MARKS
from model_server import Broken, serving

from askmeans import sessions

KEY = "sk-secret-123"
WORDS = {"fruit": ["apple", "pear", "plum"], "tools": ["hammer", "saw", "drill"]}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def database(tmp_path):
    """60 short texts in two groups, whose numbers tell little."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    items = [
        f"a {WORDS['fruit' if label == 0 else 'tools'][i % 3]} number {i}"
        for i, label in enumerate(labels)
    ]
    path = tmp_path / "s.db"
    X = rng.normal(size=(60, 3)) + labels[:, None]
    with sessions.create(path, X, n_clusters=2, items=items, cluster_names=["fruit", "tools"],
                         random_state=0) as session:  # fmt: skip
        session.settings.set_option("guidelines", "Fruit is eaten.")
    return path


def knowing(request, _=0):
    text = request.data["item"]["text"]
    return '{"group": "A"}' if any(word in text for word in WORDS["fruit"]) else '{"group": "B"}'


def people_answer(path, n):
    with sessions.open(path) as session:
        for _ in range(n):
            (question,) = session.ask(annotator="Ada")
            session.tell(question.id, question.items[0] % 2, annotator="Ada")


def panel(askmeans, path, server, *options, **more):
    return askmeans("panel", path, "--model", server.url, "--model-name", "small", *options,
                    cwd=path.parent, **more)  # fmt: skip


def test_a_model_answers_ahead_and_the_report_says_what_rests_on_it(askmeans, database):
    with serving(knowing) as server:
        said = panel(askmeans, database, server, "--share", "0.2", "--prices", "1,2").stdout
        assert "60 items to ask small about: 60 requests" in said
        assert "by the prices given" in said
        assert "small: 60 answers, 0 times cannot say; not compared with people yet" in said
        assert len(server.trace) == 60
        assert "Fruit is eaten." in server.trace[0].system
        assert '{"A": "fruit", "B": "tools"}' in server.trace[0].system
        people_answer(database, 20)
        again = json.loads(panel(askmeans, database, server, "--json").stdout)
        assert len(server.trace) == 60  # nothing is asked twice
    assert again["cost"]["calls"] == 0
    score = again["advisers"]["small"]
    assert (score["agreement"], score["together"], score["audited"] >= 3) == (1.0, 20, True)
    assert again["audit_share"] == 0.2
    said = askmeans("panel", database, cwd=database.parent).stdout
    assert "agrees with people in 100% of 20 items" in said
    assert "People answered 20 of 60 items" in said
    assert "random items it is 0.00 off" in said
    with sessions.open(database) as session:
        assert session.status().answered == 20
        assert (session.result().memberships.argmax(axis=1) == np.arange(60) % 2).all()


def test_a_forecast_asks_nothing_and_a_budget_is_a_hard_stop(askmeans, database):
    with serving(knowing) as server:
        said = panel(askmeans, database, server, "--forecast", "--items", "10", "--json").stdout
        assert json.loads(said)["forecast"]["calls"] == 10
        assert server.trace == []
        done = panel(askmeans, database, server, "--max-tokens", "3000", "--concurrency", "2")
        assert sum(server.tokens) <= 3000
        # One at a time: how many fit in is else a matter of who holds what at the end.
        limits = ("--max-tokens", "6000", "--concurrency", "1")
        done = panel(askmeans, database, server, *limits)
        assert "the next request could take more tokens than are left: up to" in done.stderr
        first = len(server.trace)
        assert 0 < first < 60
        assert sum(server.tokens) <= 6000
        again = panel(askmeans, database, server, *limits)
        assert "with a larger budget the same command goes on" in again.stderr
        assert len(server.trace) <= first + 1  # what was spent before is spent
        assert sum(server.tokens) <= 6000
        more = panel(askmeans, database, server)
        assert f"with earlier runs: 60 requests, {server.tokens[0]} tokens read" in more.stdout
        assert len(server.trace) == 60  # goes on from there


def test_what_fails_is_asked_again_next_time_and_a_refusal_ends_it(askmeans, database):
    with serving(lambda *_: Broken(401, body=f'{{"error": {{"message": "bad {KEY}"}}}}')) as server:
        failed = panel(askmeans, database, server, ok=False)
    assert failed.returncode == 1
    assert "401" in failed.stderr
    assert KEY not in failed.stderr + failed.stdout
    with sessions.open(database) as session:
        assert session.advisers.answers() == {}


def test_the_key_is_in_no_database_no_export_and_no_output(askmeans, database):
    with serving(knowing) as server:
        done = panel(askmeans, database, server)
    askmeans("export", database, "--out", "out", cwd=database.parent)
    audit = askmeans("audit", database, "--json", cwd=database.parent).stdout
    told = done.stdout + done.stderr + audit
    assert KEY not in told
    for file in database.parent.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes()
    assert (database.parent / "s.db.replies").exists()
    with sqlite3.connect(database.parent / "s.db.replies") as replies:
        assert replies.execute("SELECT count(*) FROM replies").fetchone() == (60,)


def test_hostile_items_stay_where_they_are(askmeans, tmp_path):
    path = tmp_path / "h.db"
    items = ["".join(c if c.isprintable() else " " for c in text) for text in INJECTIONS]
    X = np.random.default_rng(0).normal(size=(50, 2))
    with sessions.create(path, X, n_clusters=2, items=items, random_state=0):
        pass
    with serving(lambda *_: '{"group": "A"}') as server:
        done = panel(askmeans, path, server)
    assert len({request.system for request in server.trace}) == 1
    for request in server.trace:
        assert sum(mark in json.dumps(request.body) for mark in MARKS) == 1
        assert request.content.isprintable()
    assert "\x1b" not in done.stdout + done.stderr
    with sessions.open(path) as session:
        assert set(session.advisers.answers()["small"].values()) == {(1.0, 0.0)}


def test_pinned_examples_are_shown_and_no_others(askmeans, database):
    with sessions.open(database) as session:
        session.groups.pin(1, 5)
    with serving(knowing) as server:
        panel(askmeans, database, server, "--items", "5")
    for request in server.trace:
        is_it = request.data["item"] == {"text": "a drill number 5"}
        shown = {} if is_it else {"examples": {"B": [{"text": "a drill number 5"}]}}
        assert {**request.data, "item": None} == {**shown, "item": None}


def test_pictures_of_the_session_s_folder_are_sent_and_no_other_file(askmeans, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"picture")
    (tmp_path / "secret.png").write_bytes(b"secret")
    items = [{"name": "a", "file": "a.png"}, {"name": "b", "file": "../secret.png"}]
    with sessions.create(tmp_path / "p.db", [[0.0], [1.0]], n_clusters=2, items=items, image="file",
                         folder=str(folder), random_state=0):  # fmt: skip
        pass
    with serving(lambda *_: '{"group": "A"}') as server:
        panel(askmeans, tmp_path / "p.db", server)
    sent = [json.dumps(request.body) for request in server.trace]
    assert sum("cGljdHVyZQ==" in body for body in sent) == 1  # "picture"
    assert not any("c2VjcmV0" in body for body in sent)


def test_names_are_proposed_and_never_applied(askmeans, database):
    people_answer(database, 10)
    seen = []

    def script(request, _):
        seen.append(request)
        return json.dumps({"A": {"name": "Things to eat", "description": "Fruit of all kinds."},
                           "B": {"name": "Things to use", "description": "Tools."}})  # fmt: skip

    with serving(script) as server:
        said = panel(askmeans, database, server, "--names").stdout
        told = json.loads(panel(askmeans, database, server, "--names", "--json").stdout)
    assert "fruit -> Things to eat: Fruit of all kinds." in said
    assert "--rename GROUP NAME --describe GROUP TEXT" in said
    assert len(server.trace) == 1  # the second time it is remembered
    assert told["cost"]["calls"] == 0
    assert told["proposals"][1] == {"group": 2, "now": "tools", "name": "Things to use",
                                    "description": "Tools."}  # fmt: skip
    data = json.loads(seen[0].content)
    assert set(data) == {"A", "B"}
    assert data["A"]["examples"]
    with sessions.open(database) as session:
        assert session.groups.names == ["fruit", "tools"]
        assert session.history.changes()[-1].kind == "option"


def test_money_is_spent_but_for_what_one_card_could_cost_and_the_rest_is_estimated_by_the_mean(
    askmeans, database
):
    with serving(knowing) as server:
        cost = ("--prices", "0.15,0.6", "--max-cost", "0.001")
        told = panel(askmeans, database, server, *cost, "--json")
        spent, one = json.loads(told.stdout)["cost"], 0.0003
        left = re.search(r"up to ([\d.e-]+), and ([\d.e-]+) of 0.001 is left", told.stderr)
        assert "the next request could cost more than what is left" in told.stderr
        assert float(left[1]) > float(left[2]) == pytest.approx(0.001 - spent["money"], rel=0.01)
        assert 0.001 - one < spent["money"] <= 0.001  # eight requests at a time set aside more
        n, more = re.search(
            r"The (\d+) items left would cost about ([\d.e-]+) more", told.stderr
        ).groups()
        assert int(n) == 60 - spent["calls"]
        panel(askmeans, database, server, *cost[:2], "--max-cost", str(0.001 + float(more) + one))
        assert len(server.trace) == 60


def test_names_have_a_forecast_and_a_budget(askmeans, database):
    with serving(lambda *_: "no names") as server:
        told = json.loads(panel(askmeans, database, server, "--names", "--forecast", "--prices",
                                "1,1", "--json").stdout)  # fmt: skip
        assert told["forecast"]["calls"] == 1
        assert told["forecast"]["money"] > 0.0
        spent = panel(askmeans, database, server, "--names", "--max-tokens", "500", ok=False)
        assert "budget" in spent.stderr
        assert server.trace == []
        cost = ("--max-cost", "1", "--cache", "other.db")
        wrong = panel(askmeans, database, server, "--names", *cost, ok=False)
        assert "prices" in wrong.stderr
        panel(askmeans, database, server, "--names", *cost, "--prices", "1,1", ok=False)
    first, second = server.trace
    assert "not of this form" in second.system
    assert "not of this form" not in first.system
    assert (database.parent / "other.db").exists()


def test_accepted_names_and_descriptions_are_told_to_people_and_to_the_model(askmeans, database):
    groups = ("groups", database, "--rename", "fruit", "Things to eat", "--describe", "1", "Sweet.")
    said = askmeans(*groups, cwd=database.parent).stdout
    assert "No answers yet" in said
    assert "1  Things to eat; Sweet.\n" in said
    listed = json.loads(askmeans("groups", database, "--json", cwd=database.parent).stdout)
    assert [group["description"] for group in listed["groups"]] == ["Sweet.", ""]
    with serving(knowing) as server:
        panel(askmeans, database, server, "--items", "2")
    assert '{"A": "Things to eat: Sweet.", "B": "tools"}' in server.trace[0].system
    said = askmeans("groups", database, cwd=database.parent).stdout
    assert "1  Things to eat: about" in said
    assert "items; Sweet." in said


def test_groups_that_change_while_the_model_answers_are_told_as_they_are(askmeans, database):
    def script(request, before):
        if len(server.trace) in (10, 26):
            with sessions.open(database) as session:
                if len(server.trace) == 10:
                    session.groups.pin(session.groups.add("toys"), 7)
                else:
                    session.groups.merge("tools", "toys")
                    session.groups.rename(1, "gear")
        return knowing(request, before)

    with serving(script) as server:
        panel(askmeans, database, server, "--concurrency", "1")
    systems = [request.system for request in server.trace]
    assert '{"A": "fruit", "B": "tools"}' in systems[0]
    assert '{"A": "fruit", "B": "tools", "C": "toys"}' in systems[16]
    assert '{"A": "fruit", "B": "gear"}' in systems[-1]
    assert any("examples" in request.data for request in server.trace[16:24])
    with sessions.open(database) as session:
        said = session.advisers.answers()["small"]
        assert [row.index(1.0) for _, row in sorted(said.items())] == [i % 2 for i in range(60)]


def test_answers_about_a_group_that_was_taken_back_meanwhile_are_asked_for_again(
    askmeans, database
):
    with sessions.open(database) as session:
        session.groups.add("toys")

    def script(request, _):
        if len(server.trace) == 4:
            with sessions.open(database) as session:
                session.undo()
        return '{"group": "C"}' if "toys" in request.system else '{"group": "A"}'

    with serving(script) as server:
        panel(askmeans, database, server, "--concurrency", "1")
        with sessions.open(database) as session:
            assert len(session.advisers.answers()["small"]) == 52
        panel(askmeans, database, server, "--concurrency", "1")
    with sessions.open(database) as session:
        assert set(session.advisers.answers()["small"].values()) == {(1.0, 0.0)}
        assert len(session.advisers.answers()["small"]) == 60


def test_some_items_are_those_that_people_audit(askmeans, database):
    with serving(knowing) as server:
        panel(askmeans, database, server, "--items", "10", "--share", "0.5")
    with sessions.open(database) as session:
        assert set(session.advisers.answers()["small"]) == set(session.advisers.audit_order()[:10])
    people_answer(database, 14)
    with sessions.open(database) as session:
        assert session.advisers.report().advisers["small"].audited >= 7


@pytest.mark.parametrize(("options", "words"), [
    (["--model", "http://x/v1"], "--model-name"), (["--names"], "--model URL"),
    (["--model", "http://x/v1", "--model-name", "m", "--prices", "1"], "0.15,0.6"),
    (["--model", "http://u:p@x/v1", "--model-name", "m"], "OPENAI_API_KEY"),
    (["--share", "2"], "from 0 to 1"),
    (["--model", "http://x/v1", "--model-name", "m", "--extra", "[]"], "JSON object"),
])  # fmt: skip
def test_what_cannot_be_done_is_told_with_a_remedy(askmeans, database, options, words):
    failed = askmeans("panel", database, *options, cwd=database.parent, ok=False)
    assert failed.returncode == 1
    assert words in failed.stderr


def test_without_a_model_that_is_told(askmeans, database):
    assert (
        "No language model has answered" in askmeans("panel", database, cwd=database.parent).stdout
    )
