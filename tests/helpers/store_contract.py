"""What every store of sessions must do, as a test class to inherit."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from askmeans.exceptions import NoSessionError, SessionExistsError
from askmeans.queries import Question
from askmeans.sessions.events import Answer, Undo
from askmeans.sessions.store.records import DataPart, Lease, SessionRecord
from askmeans.sessions.store.sql import Store

__all__ = ["StoreContract"]


class StoreContract:
    """Appended, durable, in order, numbered; a subclass says which store.

    The contract in prose is `askmeans.sessions.store.sql`. Subclass this in a test module
    under a name that starts with ``Test`` and write `make_store`, which opens the store at the same
    place whenever it is called within one test.

    Examples
    --------
    >>> from askmeans.sessions.store import open_store
    >>> class TestMine(StoreContract):
    ...     def make_store(self, folder):
    ...         return open_store(folder / "mine.db", make=True)
    """

    def make_store(self, folder: Path) -> Store:
        """The store under test; the same one at every call with this folder."""
        raise NotImplementedError("a subclass says which store it tests")

    @pytest.fixture
    def store(self, tmp_path: Path) -> Any:
        """An empty store."""
        store = self.make_store(tmp_path)
        yield store
        store.close()

    @pytest.fixture
    def other(self, tmp_path: Path, store: Store) -> Any:  # noqa: ARG002 - it exists already
        """The same store through another connection, as another process sees it."""
        other = self.make_store(tmp_path)
        yield other
        other.close()

    def part(self, number: int = 0) -> DataPart:
        """Two rows of one feature."""
        return DataPart(
            part=number,
            dtype="<f8",
            shape=(2, 1),
            fingerprint="f" * 64,
            path=None,
            display={"ids": ["a", "ü"], "rows": [[1, None]]},
        )

    def add(self, store: Store, name: str = "main") -> SessionRecord:
        """A session in the store."""
        chunks = iter([b"12345678", b"abcdefgh"])
        return store.create(name, {"seed": 2**62 - 1}, self.part(), chunks, made_by="test")

    def event(self, key: str, **values: Any) -> Answer:
        """An answer."""
        fields: dict[str, Any] = {"annotator": "me", "question": 1, "value": 0.1}
        return Answer(key=key, **(fields | values))

    def test_a_session_comes_back_as_it_was_made(self, store: Store, other: Store) -> None:
        made = self.add(store)
        assert other.load("main") == made
        assert made.config == {"seed": 2**62 - 1}
        assert other.parts(made.id) == [self.part()]
        assert b"".join(other.chunks(made.id, 0)) == b"12345678abcdefgh"

    def test_a_name_is_given_once(self, store: Store) -> None:
        self.add(store)
        with pytest.raises(SessionExistsError, match="'main'"):
            self.add(store)
        self.add(store, "second")
        assert store.names() == ["main", "second"]

    def test_a_session_that_is_not_there_is_refused(self, store: Store) -> None:
        self.add(store)
        with pytest.raises(NoSessionError, match=r"'mine'.* Got 'main'"):
            store.load("mine")

    def test_events_come_back_in_order_with_growing_numbers(
        self, store: Store, other: Store
    ) -> None:
        session = self.add(store).id
        with store.write(session) as transaction:
            first = transaction.append(self.event("a"))
        with other.write(session) as transaction:
            second = transaction.append(
                Undo(key="b", annotator="me", question=1, taken_back=first.id)
            )
            assert transaction.events(first.id) == transaction.appended == [second]
        assert store.events(session) == other.events(session) == [first, second]
        assert store.events(session, first.id) == [second]
        assert first.id < second.id
        assert first.at <= second.at

    def test_what_an_exception_leaves_is_nothing(self, store: Store, other: Store) -> None:
        session = self.add(store).id
        with suppress(ZeroDivisionError), store.write(session) as transaction:
            transaction.append(self.event("a"))
            transaction.lease(Lease(question=1, annotator="me", until=1e12))
            transaction.add_questions([Question("pair", (0, 1))])
            raise ZeroDivisionError
        for seen in (store, other):
            assert seen.events(session) == []
            assert seen.leases(session)[1] == []
            assert seen.questions(session) == []

    def test_sessions_do_not_see_each_other(self, store: Store) -> None:
        mine, theirs = self.add(store).id, self.add(store, "second").id
        with store.write(mine) as transaction:
            transaction.append(self.event("a"))
            transaction.lease(Lease(question=1, annotator="me", until=1e12))
            transaction.add_questions([Question("pair", (0, 1))])
        with store.write(theirs) as transaction:
            transaction.append(self.event("a"))  # keys are a session's own
        assert len(store.events(theirs)) == 1
        assert store.leases(theirs)[1] == []
        assert store.questions(theirs) == []

    def test_a_question_keeps_its_number_whoever_issues_it(
        self, store: Store, other: Store
    ) -> None:
        session = self.add(store).id
        pair, triplet = Question("pair", (0, 1)), Question("triplet", (0, 1, 2))
        membership = Question("membership", (0,), 1, 3)
        with store.write(session) as transaction:
            assert transaction.add_questions([pair, triplet]) == [1, 2]
            assert transaction.questions(1) == [(2, triplet)]
        with other.write(session) as transaction:
            assert transaction.add_questions([membership, triplet]) == [3, 2]
            assert transaction.add_questions([]) == []
        assert store.questions(session) == [(1, pair), (2, triplet), (3, membership)]
        assert store.questions(session, 2) == [(3, membership)]

    def test_many_questions_are_numbered_as_few_are(self, store: Store) -> None:
        session = self.add(store).id
        many = [Question("membership", (row,), row % 3) for row in range(1200)]
        with store.write(session) as transaction:
            assert transaction.add_questions(many[7:8]) == [1]
            numbers = transaction.add_questions(many)
            assert numbers[7] == 1
            assert sorted(numbers) == list(range(1, 1201))
            assert transaction.add_questions(many[::-1]) == numbers[::-1]

    def test_a_lease_is_given_renewed_and_let_go(self, store: Store, other: Store) -> None:
        session = self.add(store).id
        for until in (5.0, 7.0):
            with store.write(session) as transaction:
                transaction.lease(Lease(question=4, annotator="me", until=until))
        with other.write(session) as transaction:
            transaction.lease(Lease(question=4, annotator="you", until=6.0))
        held = {(lease.annotator, lease.until) for lease in other.leases(session)[1]}
        assert held == {("me", 7.0), ("you", 6.0)}
        with other.write(session) as transaction:
            transaction.release(4, "me")
            transaction.release(4, "nobody")
        assert [lease.annotator for lease in store.leases(session)[1]] == ["you"]

    def test_a_name_is_replaced_everywhere_in_its_session(self, store: Store, other: Store) -> None:
        mine, theirs = self.add(store).id, self.add(store, "second").id
        for session in (mine, theirs):
            with store.write(session) as transaction:
                transaction.append(self.event("a", annotator="Ada", client="page"))
                transaction.append(self.event("b", annotator="Bo"))
                transaction.lease(Lease(question=4, annotator="Ada", until=1e12))
        with other.write(mine) as transaction:
            assert transaction.replace_annotator("Ada", "person 1") == 1
        assert [event.annotator for event in store.events(mine)] == ["person 1", "Bo"]
        assert store.events(mine)[0].client == "page"
        assert [lease.annotator for lease in store.leases(mine)[1]] == ["person 1"]
        assert [event.annotator for event in store.events(theirs)] == ["Ada", "Bo"]
        assert [lease.annotator for lease in store.leases(theirs)[1]] == ["Ada"]

    def test_an_invitation_is_kept_used_and_ended_for_its_session_alone(
        self, store: Store, other: Store
    ) -> None:
        mine, theirs = self.add(store).id, self.add(store, "second").id
        with store.write(mine) as transaction:
            for digest in ("a", "b", "a"):  # the first again, whose commit was not confirmed
                transaction.invite(digest, name="Ada", role="annotator", made_by="me", until=1e12)
        now, (first, second) = other.invites(mine)
        assert (first.name, first.role, first.until, first.used) == ("Ada", "annotator", 1e12, None)
        assert other.invites(mine, "b")[1] == [second]
        with other.write(mine) as transaction:
            assert transaction.invites() == [first, second]
            assert transaction.invites(second.number) == [second]
        with other.write(theirs) as transaction:
            assert transaction.invites(second.number) == []
        assert other.invites(mine, "c")[1] == other.invites(theirs, "a")[1] == []
        with other.write(theirs) as transaction:  # somebody else's number ends nothing
            transaction.revoke(first.number)
        assert store.invites(mine)[1] == [first, second]
        with other.write(mine) as transaction:
            transaction.note_use(first.number)
            transaction.revoke(second.number)
        _, (first, second) = store.invites(mine)
        assert (first.used or 0.0) >= now
        assert (first.state, second.state, second.used) == ("valid", "revoked", None)
        with other.write(mine) as transaction:
            transaction.replace_annotator("Ada", "person 1")
        assert {invite.name for invite in store.invites(mine)[1]} == {"person 1"}

    def test_the_clock_is_the_databases_and_does_not_go_back(self, store: Store) -> None:
        session = self.add(store).id
        with store.write(session) as transaction:
            first = transaction.now()
        assert first > 1.6e9  # seconds since 1970
        assert store.leases(session)[0] >= first

    def test_rows_can_be_added(self, store: Store, other: Store) -> None:
        session = self.add(store).id
        with store.write(session) as transaction:
            transaction.add_part(self.part(1), iter([b"x" * 16]))
        assert [part.part for part in other.parts(session)] == [0, 1]
        assert list(other.chunks(session, 1)) == [b"x" * 16]
