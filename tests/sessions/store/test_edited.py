"""A database that was edited by hand is refused in a sentence, whatever was put into it."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from askmeans import sessions
from askmeans.cli import main
from askmeans.exceptions import StoreDamagedError

EDITS = {
    "a row of shares that is no JSON": "UPDATE {events} SET text = 'x' WHERE kind = 'answer'",
    "shares above one": "UPDATE {events} SET text = '[5, 0, 0]' WHERE kind = 'answer'",
    "more shares than groups": "UPDATE {events} SET text = '[0,0,0,0,1]' WHERE kind = 'answer'",
    "a number in place of a row": "UPDATE {events} SET value = 2.5 WHERE kind = 'answer'",
    "a membership in place of a row": "UPDATE {events} SET value = .5 WHERE kind = 'answer'",
    "a question that is no number": "UPDATE {events} SET question = 'x' WHERE kind = 'answer'",
    "a time that is none": "UPDATE {events} SET at = 'noon' WHERE kind = 'answer'",
    "an undo of nothing": "UPDATE {events} SET target = 999 WHERE kind = 'undo'",
    "a merge with nothing": "UPDATE {events} SET value = NULL WHERE kind = 'merge'",
    "a merge with itself": "UPDATE {events} SET value = target WHERE kind = 'merge'",
    "a name of no group": "UPDATE {events} SET target = 99 WHERE kind = 'rename'",
    "an example that is no item": "UPDATE {events} SET value = 1000000 WHERE kind = 'pin'",
    "an option that is none": "UPDATE {events} SET text = '[3]' WHERE kind = 'option'",
    "a budget below zero": "UPDATE {events} SET target = -1 WHERE kind = 'budget'",
    "a question about no item": "UPDATE {questions} SET item = 1000000 WHERE number = 1",
    "a question about words": "UPDATE {questions} SET item = 'x' WHERE number = 1",
    "a question of two items": "UPDATE {questions} SET item_2 = 7 WHERE number = 1",
    "a question asked x times": "UPDATE {questions} SET repeat = 'x' WHERE number = 1",
    "a lease until x": "UPDATE {leases} SET until = 'x'",
    "an invitation until x": "UPDATE {invites} SET until = 'x'",
    "parameters that are no JSON": "UPDATE {sessions} SET config = 'x'",
    "parameters of nothing": "UPDATE {sessions} SET config = '{{\"a\": 1}}'",
    "no groups": "UPDATE {sessions} SET config = json_set(config, '$.n_clusters', -1)",
    "names that are none": "UPDATE {sessions} SET config = json_set(config, '$.cluster_names', 3)",
    "numbers of no type": "UPDATE {parts} SET dtype = 'x'",
    "items that are no JSON": "UPDATE {parts} SET display = 'x'",
    "items without rows": "UPDATE {parts} SET display = json_set(display, '$.n', 3)",
    "no items": "DELETE FROM {parts}",
}
TABLES = {name: f"askmeans_{name}" for name in
          ("events", "questions", "leases", "invites", "sessions", "parts")}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A database in which everything has happened once."""
    path = tmp_path_factory.mktemp("edited") / "whole.db"
    X = np.repeat(np.eye(3), 10, axis=0) + np.linspace(0, 0.1, 30)[:, None]
    with sessions.create(
        path, X, n_clusters=3, cluster_names=["a", "b", "c"], items=[f"t {j}" for j in range(30)],
        random_state=0,
    ) as session:  # fmt: skip
        for _ in range(6):
            (question,) = session.ask()
            session.tell(question.id, question.items[0] // 10)
        session.undo()
        session.groups.rename(0, "first")
        session.groups.pin(1, 12)
        session.groups.add("d")
        session.groups.merge(3, 0)
        session.settings.set_option("annotators_see_results", True)
        session.settings.set_budget(20)
        session.people.invite("Ann")
        session.ask(annotator="Ann")
    return path


def use(path):
    """What a page does with a session."""
    with sessions.open(path) as session:
        session.history.answers()
        session.people.agreement()
        session.status(estimate=True)
        session.result()
        session.people.invites()
        session.ask(annotator="Bo")
        [session.item(row) for row in range(30)]


def test_a_database_as_it_was_is_used(whole, tmp_path):
    path = shutil.copy(whole, tmp_path / "s.db")
    use(path)
    with sessions.open(path) as session:
        assert (len(session.history.answers()), session.groups.names) == (5, ["b", "c", "d"])


@pytest.mark.parametrize("edit", EDITS)
def test_what_was_edited_is_refused_in_a_sentence(whole, tmp_path, capsys, edit):
    path = shutil.copy(whole, tmp_path / "s.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(EDITS[edit].format(**TABLES)).rowcount > 0
    with pytest.raises(
        StoreDamagedError, match=r"must hold what askmeans wrote.*a backup"
    ) as error:
        use(path)
    assert str(path) in str(error.value)
    if "until" in edit:
        return  # who is invited, and who has which question, matters to others
    with pytest.raises(SystemExit) as end:
        main(["status", str(path)])
    assert end.value.code == 1
    assert "must hold what askmeans wrote" in capsys.readouterr().err
