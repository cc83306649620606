"""Who may come in: by a token of which only the digest is kept, until it ends."""

import hashlib

import pytest
from sqlalchemy import text

from askmeans import sessions
from askmeans.exceptions import InvitationError, ParameterError, SessionError


@pytest.fixture
def session(database_at, kit):
    """A session in either store."""
    place = database_at("s")
    with sessions.create(place, kit.X, n_clusters=3, random_state=0) as made:
        made.place = place
        yield made


def all_text(session):
    """Everything that the table of invitations holds."""
    with session.runtime.store.backend.engine.connect() as connection:
        return repr(connection.execute(text("SELECT * FROM askmeans_invites")).all())


def change(session, statement):
    """Change the table behind the session's back."""
    with session.runtime.store.backend.engine.begin() as connection:
        connection.execute(text(f"UPDATE askmeans_invites SET {statement}"))


def test_a_token_says_who_somebody_is_in_every_process(session):
    ada = session.people.invite("Ada")
    bo = session.people.invite("Bo", role="owner", annotator="Ada")
    assert len(ada) == 43
    with sessions.open(session.place) as other:
        assert (other.people.person_of(ada).name, other.people.person_of(ada).role) == (
            "Ada",
            "annotator",
        )
        assert (other.people.person_of(bo).name, other.people.person_of(bo).role) == ("Bo", "owner")
        assert [invite.made_by for invite in other.people.invites()] == ["me", "Ada"]


def test_the_database_keeps_the_digest_and_not_the_token(session):
    token = session.people.invite("Ada")
    assert "Ada" in all_text(session)
    assert token not in all_text(session)
    assert token not in repr(session.people.invites())


@pytest.mark.parametrize("wrong", ["", "x", "x" * 43, "\0" * 43, "'" * 43, "x" * 10**6])
def test_a_wrong_token_lets_nobody_in(session, wrong):
    session.people.invite("Ada")
    assert session.people.person_of(wrong) is None


def test_the_digest_is_no_token(session):
    digest = hashlib.sha256(session.people.invite("Ada").encode()).hexdigest()
    assert digest in all_text(session)
    assert session.people.person_of(digest) is None
    assert session.people.person_of(digest[:43]) is None


def test_a_token_is_of_its_session_alone(session, kit):
    token = session.people.invite("Ada", role="owner")
    with sessions.create(session.place, kit.X, n_clusters=3, name="other") as other:
        assert other.people.person_of(token) is None
        assert other.people.invites() == []


def test_an_invitation_ends_after_its_days_by_the_databases_clock(session):
    token = session.people.invite("Ada", days=2)
    (invite,) = session.people.invites()
    assert invite.until - invite.at == pytest.approx(2 * 24 * 3600)
    change(session, "until = 1.0")
    assert session.people.person_of(token) is None
    assert [invite.state for invite in session.people.invites()] == ["expired"]
    assert session.people.person_of(session.people.invite("Bo", days=0)) is None


def test_revoked_tokens_let_nobody_in_at_once_in_any_process(session):
    tokens = [
        session.people.invite("Ada"),
        session.people.invite("Ada"),
        session.people.invite("Bo"),
    ]
    with sessions.open(session.place) as other:
        assert all(map(other.people.person_of, tokens))
        assert [invite.state for invite in session.people.revoke("Ada")] == ["revoked"] * 2
        assert [other.people.person_of(token) is None for token in tokens] == [True, True, False]
    last = session.people.invites()[-1].number
    assert [invite.name for invite in session.people.revoke(last)] == ["Bo"]
    assert [invite.state for invite in session.people.invites()] == ["revoked"] * 3
    for who in ("Ada", last, "nobody", 10**6, True):
        with pytest.raises(SessionError, match=r"'who'.*Got.*there are: none"):
            session.people.revoke(who)


def test_the_list_says_when_an_invitation_was_last_used(session):
    token = session.people.invite("Ada")
    assert session.people.invites()[0].used is None
    session.people.person_of(token)
    first = session.people.invites()[0].used
    assert first >= session.people.invites()[0].at
    session.people.person_of(token)  # within the minute it is not written again
    assert session.people.invites()[0].used == first
    change(session, "used = 5.0")
    session.people.person_of(token)
    assert session.people.invites()[0].used >= first


def test_a_pseudonym_takes_the_place_of_a_name_in_invitations(session):
    token = session.people.invite("Ada")
    session.tell(session.ask(annotator="Ada")[0].id, 0, annotator="Ada")
    session.people.pseudonymize("Ada", "person 7")
    assert "Ada" not in all_text(session)
    assert session.people.person_of(token).name == "person 7"


def test_whoever_was_only_invited_or_only_invited_others_can_have_a_pseudonym(session):
    token = session.people.invite("Ada", annotator="Bo")
    session.people.invite("person 1")
    assert session.people.pseudonymize("Ada") == "person 2"
    with pytest.raises(ParameterError, match="must be an unused name"):
        session.people.pseudonymize("Bo", "person 1")
    session.people.pseudonymize("Bo", "person 3")
    assert (session.people.invites()[0].name, session.people.invites()[0].made_by) == (
        "person 2",
        "person 3",
    )
    assert session.people.person_of(token).name == "person 2"
    assert "Ada" not in all_text(session)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"name": ""}, "annotator"), ({"name": "held"}, "annotator"),
        ({"name": "gold"}, "annotator"), ({"name": "askmeans"}, "annotator"),
        ({"name": "a\0b"}, "annotator"),
        ({"name": "x" * 81}, "'name'"), ({"role": "king"}, "'role'"), ({"days": -1}, "'days'"),
        ({"days": float("inf")}, "'days'"), ({"days": "x"}, "'days'"),
    ],
)  # fmt: skip
def test_what_is_no_invitation_is_refused_and_kept_nowhere(session, options, named):
    with pytest.raises(ParameterError, match=named):
        session.people.invite(**{"name": "Ada", **options})
    assert session.people.invites() == []


def test_inviting_and_revoking_are_events_of_who_did_it_from_where_without_the_name(session):
    with sessions.from_client("page from 10.0.0.7"):
        session.people.invite("Ada", role="owner", annotator="Bo")
        session.people.revoke("Ada", annotator="Cy")
    number = session.people.invites()[0].number
    assert [(e.kind, e.annotator, e.client, e.invite) for e in session.history.audit()] == [
        ("invite", "Bo", "page from 10.0.0.7", number),
        ("revoke", "Cy", "page from 10.0.0.7", number),
    ]
    assert session.history.audit()[0].role == "owner"
    with pytest.raises(SessionError):
        session.people.revoke("Ada")  # refused: nothing is told
    assert len(session.history.audit()) == 2


@pytest.mark.parametrize("ending", ["revoked", "expired", "renamed"])
def test_a_move_needs_the_invitation_as_it_is_when_the_move_is_written(session, ending):
    ada, bo = (session.people.person_of(session.people.invite(name)) for name in ("Ada", "Bo"))
    with sessions.open(session.place) as other, session.people.acting_as(ada):
        first, second = session.ask(2, annotator="Ada")
        assert session.tell(first.id, 0, annotator="Ada").counts
        if ending == "revoked":
            other.people.revoke("Ada")
        elif ending == "expired":
            change(other, f"until = 1.0 WHERE id = {ada.invite}")
        else:
            other.people.pseudonymize("Ada")
        before, leases = other.history.audit(), other.runtime.store.leases(1)[1]
        for attempt in (
            lambda: session.tell(second.id, 0, annotator="Ada", key="a"),
            lambda: session.skip(second.id, annotator="Ada"),
            lambda: session.undo(annotator="Ada"),
            lambda: session.ask(annotator="Ada"),
            lambda: session.leave(annotator="Ada"),
            lambda: session.people.invite("Eve", role="owner", annotator="Ada"),
            lambda: session.settings.pause(annotator="Ada"),
            lambda: session.add_rows([[0.0, 0.0]]),
        ):
            with pytest.raises(InvitationError, match=r"not saved.* Ask an owner"):
                attempt()
        assert (other.history.audit(), other.runtime.store.leases(1)[1]) == (before, leases)
    with session.people.acting_as(bo):
        assert session.tell(session.ask(annotator="Bo")[0].id, 0, annotator="Bo").counts
    assert (
        session.settings.pause().event > before[-1].event
    )  # whoever has the database needs no invitation
