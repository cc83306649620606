"""Who did what, when and from where; and a name that becomes a pseudonym everywhere."""

import os

import pytest
from last_bits import same_but_for_rounding

from askmeans import sessions
from askmeans.exceptions import ParameterError, SessionError
from askmeans.sessions.authors import current_client
from askmeans.sessions.tables import answers_table


@pytest.fixture(params=["sqlite", "postgresql"])
def session(request, folder, kit):
    """A session that Ada and Bo have answered, in either store."""
    place = folder / "s.db"
    if request.param == "postgresql":
        place = request.getfixturevalue("postgres_url")
    with sessions.create(place, kit.X, n_clusters=3, ask="membership", annotations=2,
                         random_state=0, cluster_names=["a", "b", "c"]) as session:  # fmt: skip
        for name in ("Ada Lovelace", "Bo"):
            first, second, third = session.ask(3, annotator=name)
            session.tell(first.id, 0.5, annotator=name)
            session.tell(second.id, 0.25, annotator=name)
            session.undo(annotator=name)
            session.skip(third.id, annotator=name)
        session.ask(annotator="Ada Lovelace")
        yield session


def raw(session):
    """All text that is stored in the database."""
    from sqlalchemy import inspect, text

    with session.runtime.store.backend.engine.connect() as connection:
        tables = inspect(connection).get_table_names()
        return repr([connection.execute(text(f"SELECT * FROM {t}")).all() for t in tables])


def test_every_event_tells_who_when_and_from_which_client(session):
    with sessions.from_client("robot 3"):
        session.groups.rename(0, "new", annotator="Cy")
    records = session.history.audit()
    assert [r.event for r in records] == sorted(r.event for r in records)
    assert records[-1].annotator == "Cy"
    assert records[-1].client == "robot 3"
    assert {record.client for record in records[:-1]} == {current_client()}
    assert all(record.at > 1.6e9 and record.annotator for record in records)
    assert current_client().startswith("python on ")


def test_what_was_taken_back_stays_in_the_log(session):
    kinds = [(r.kind, r.undone) for r in session.history.audit() if r.annotator == "Bo"]
    assert kinds == [("answer", False), ("answer", True), ("undo", False), ("skip", False)]
    assert session.history.audit()[1].value == 0.25


def test_a_pseudonym_replaces_a_name_in_log_leases_and_exports_and_is_an_event(session):
    with sessions.open(session.url) as other:
        history = other.history.answers()
        result = other.result().memberships
        assert session.people.pseudonymize("Ada Lovelace", annotator="owner") == "person 1"
        assert "Lovelace" not in raw(session)
        last = session.history.audit()[-1]
        assert (last.kind, last.annotator, last.pseudonym) == ("pseudonym", "owner", "person 1")
        for seen in (session, other):  # another process learns of it, too
            assert len(seen.history.audit()) == len(history) + 5
            assert [r.annotator for r in seen.history.answers()].count("person 1") == 2
            assert set(seen.status().annotators) == {"person 1", "Bo"}
            assert "Lovelace" not in answers_table(seen).to_csv()
            same_but_for_rounding(seen.result().memberships, result)
            assert [(r.event, r.value) for r in seen.history.answers()] == [
                (r.event, r.value) for r in history
            ]
        assert [h.annotator for h in other.status().holding].count("person 1") >= 1


def test_a_name_in_keys_and_clients_of_their_own_is_replaced_too(session):
    with sessions.from_client("Ada Lovelace's laptop"):
        (question,) = session.ask(annotator="Ada Lovelace")
        first = session.tell(question.id, 0.75, annotator="Ada Lovelace", key="Ada Lovelace 7%")
    other = session.tell(question.id, 0.5, annotator="Bo", key="b").event
    session.people.pseudonymize("Ada Lovelace")
    assert "Lovelace" not in raw(session)
    told = {record.event: record for record in session.history.audit()}
    assert told[first.event].client == "person 1's laptop"
    assert told[other].client == current_client()
    again = session.tell(question.id, 0.75, annotator="person 1", key="b2")
    assert (again.event, again.repeated) == (first.event, True)


def test_who_goes_on_under_the_pseudonym_can_undo_as_before(session):
    session.people.pseudonymize("Ada Lovelace", "A.")
    assert session.undo(annotator="A.").kind == "skip"
    with pytest.raises(SessionError, match="Got none"):
        session.undo(annotator="Ada Lovelace")


def test_whoever_replaces_their_own_name_is_not_named_by_the_event(session):
    session.people.pseudonymize("Ada Lovelace", annotator="Ada Lovelace")
    assert session.history.audit()[-1].annotator == "person 1"
    assert "Lovelace" not in raw(session)
    session.people.pseudonymize("Bo")
    assert {r.annotator for r in session.history.audit()} == {"person 1", "person 2", "me"}


def test_a_name_that_somebody_has_is_no_pseudonym_and_nobody_has_none(session):
    before = raw(session)
    with pytest.raises(ParameterError, match="'pseudonym' parameter must be an unused name"):
        session.people.pseudonymize("Ada Lovelace", "Bo")
    with pytest.raises(SessionError, match="something by or for 'Cy'"):
        session.people.pseudonymize("Cy")
    with pytest.raises(ParameterError):
        session.people.pseudonymize("Ada Lovelace", "held")
    assert raw(session) == before


def test_a_child_process_names_its_own_client(session):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with sessions.from_client("child"):
                session.settings.pause()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert session.history.audit()[-1].client == "child"
