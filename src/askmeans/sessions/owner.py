"""What the owner of a session does with it: pauses it, names clusters, adds rows and answers."""

import math
from collections.abc import Iterable
from typing import Any, Self

from askmeans._util.checks import check_name, check_number, check_positive
from askmeans.exceptions import (
    AnswerError,
    KeyConflictError,
    ParameterError,
    QueryError,
    SessionError,
)
from askmeans.queries import ME, Answer, Question
from askmeans.queries.questions import KINDS, ordered
from askmeans.queries.values import as_row
from askmeans.sessions.assignment import Assignment
from askmeans.sessions.config import Config
from askmeans.sessions.groups import NO_SUCH_GROUP, taken_name
from askmeans.sessions.invites import Invitations
from askmeans.sessions.log import GOLD, IMPORTED, EventKind, NewEvent, Value
from askmeans.sessions.reports import Held, Receipt
from askmeans.sessions.results import Results
from askmeans.sessions.rows import Rows, chunks_at_rest
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.store.contract import SessionRecord, Store, Transaction
from askmeans.spec import SIMILARITIES

__all__ = ["SessionOwner"]


class SessionOwner(Invitations):
    """The half of `Session` that is not about questions."""

    def __init__(self, store: Store, record: SessionRecord) -> None:
        self._store = store
        self._record = record
        self.config = Config.of_session(record, store.url)
        self.rows = Rows(store, record)
        self._runtime = Runtime(store, record, self.config, self.rows)
        self._assignment = Assignment(self._runtime)
        self._results = Results(self._runtime)

    @property
    def name(self) -> str:
        """The session's name in its database."""
        return self._record.name

    @property
    def url(self) -> str:
        """Where it is kept."""
        return self._store.url

    @property
    def patience(self) -> float:
        """Seconds to try again for where the database is out of reach; 30 unless set."""
        return self._store.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        check_positive(seconds, "patience", "Session")
        self._store.patience = float(seconds)

    @property
    def fingerprint(self) -> str:
        """A digest of the numbers it clusters."""
        return self._record.fingerprint

    @property
    def cluster_names(self) -> list[str]:
        """What the clusters are called now."""
        with self._runtime.lock:
            return self._results.cluster_names()

    @property
    def last_event(self) -> int:
        """The number of the last event, 0 before the first; what was computed at it still holds."""
        with self._runtime.up_to_date() as state:
            return state.last

    def check_writable(self) -> None:
        """Refuse where nothing could be saved now; whoever watches over a server asks.

        Raises
        ------
        StoreError
            If a move would raise it, because the database is away, full, damaged or may not be
            written to.

        Examples
        --------
        >>> open("fruit.db").check_writable()
        """
        self._runtime.write(lambda transaction: transaction.check_room())

    def pause(self, *, annotator: str = ME) -> Receipt:
        """Hand out no questions until `resume`; answers are still taken.

        Parameters
        ----------
        annotator : str, default="me"
            Who pauses it.

        Returns
        -------
        Receipt
            What was kept.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.pause()
        >>> session.ask(), session.status().state.value
        ([], 'paused')
        """
        return self._log(EventKind.PAUSE, annotator)

    def resume(self, *, annotator: str = ME) -> Receipt:
        """Hand out questions again.

        Parameters
        ----------
        annotator : str, default="me"
            Who resumes it.

        Returns
        -------
        Receipt
            What was kept.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipts = session.pause(), session.resume()
        >>> len(session.ask())
        1
        """
        return self._log(EventKind.RESUME, annotator)

    def rename(self, cluster: int, name: str, *, annotator: str = ME) -> Receipt:
        """Rename a cluster.

        Where similarities are asked, every result numbers the clusters anew; the name stays with
        the most typical item of the cluster in the result of now.

        Parameters
        ----------
        cluster : int
            Its number.
        name : str
            Its new name, which no other cluster has, and which is not "id".
        annotator : str, default="me"
            Who names it.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        ParameterError
            If there is no such cluster, or the name is empty, has control characters, or is taken.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.rename(0, "tiny")
        >>> session.cluster_names
        ['tiny', 'large']
        """
        check_number(cluster, "cluster", "Session.rename", integer=True, minimum=0)
        name = check_name(name, "name", "Session.rename")
        if self.config.ask in SIMILARITIES:  # the clusters are those of the result
            self._runtime.compute()

        def renamed() -> NewEvent:  # inside the transaction: others may be naming, too
            groups, results = self._runtime.groups, self._results
            number = groups.resolve(int(cluster))
            if number is None or name in results.taken_names(number):
                raise ParameterError(
                    f"The 'cluster' parameter of Session.rename must be below {groups.n}, and "
                    "'name' must be no other cluster's and not 'id'. "
                    f"Got {cluster} and {name!r} instead.",
                    user_message=NO_SUCH_GROUP if number is None else taken_name(name),
                )
            row = results.anchor(number)
            return NewEvent(
                kind=EventKind.RENAME, annotator=annotator, target=number,
                text=name, value=None if row is None else float(row),
            )  # fmt: skip

        return self._assignment.log(renamed)

    def set_budget(self, n: int, *, annotator: str = ME) -> Receipt:
        """Allow another number of questions, more or fewer; answers are kept in either case.

        Parameters
        ----------
        n : int
            Most different questions to answer, those answered so far included.
        annotator : str, default="me"
            Who decides it.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        ParameterError
            If it is no whole number from 1.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.set_budget(3)
        >>> session.status().budget, session.status().left.high
        (3, 3)
        """
        check_number(n, "n", "Session.set_budget", integer=True, minimum=1)
        most = min(int(n), 2**53)  # what every database can keep, and nobody can answer
        return self._log(EventKind.BUDGET, annotator, target=most)

    def hold(self, answers: Iterable[Answer]) -> int:
        """Import answers: they are evidence, cost no budget and are not asked again.

        What was answered in the session stays as it is.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            Of a history, of a file, or made by yourself.

        Returns
        -------
        int
            How many were new.

        Raises
        ------
        QueryError
            If one is about an item or cluster that is not here; then none is taken in.
        AnswerError
            If one is no number from 0 to 1; then none is taken in.
        KeyConflictError
            If one was held with another value, or there are two; then none is taken in.

        Examples
        --------
        >>> from askmeans.queries import Answer
        >>> session = open("fruit.db")
        >>> session.hold([Answer(round=0, kind="membership", items=(3,), cluster=0, repeat=0,
        ...                      value=0.0)])
        1
        >>> session.status().held
        1
        """
        return self.take_in(answers).new

    def take_in(self, answers: Iterable[Answer]) -> Held:
        """Do as `hold` does, and tell what became of each.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            As in `hold`.

        Returns
        -------
        Held
            How many were new, there already, or answered otherwise in the session.

        Examples
        --------
        >>> from askmeans.queries import Answer
        >>> session = open("fruit.db")
        >>> session.take_in([Answer(round=0, kind="membership", items=(3,), cluster=0, repeat=0,
        ...                         value=0.0)])
        Held(new=1, there=0, otherwise=0)
        """
        listed = list(answers)

        def take(transaction: Transaction) -> Held:
            state = self._runtime.state
            told = _checked_answers(listed, len(self.rows), self._runtime.groups.n)
            new = otherwise = 0
            numbers = transaction.add_questions(list(told))
            for number, (asked, kept) in zip(numbers, told.items(), strict=True):
                mine = state.mine(number, IMPORTED)
                if mine is not None:
                    if mine.value != kept:
                        raise KeyConflictError(
                            f"The answer held to {_told(asked)} must stay what it was. Got {kept} "
                            f"after {mine.value}; nothing was taken in."
                        )
                elif state.is_settled(number):
                    value = state.value(number)
                    silent = isinstance(value, float) and math.isnan(value)
                    otherwise += kept != (None if silent else value)
                # An answer twice would stay when it is undone here.
                elif all(event.value != kept for event in state.answers(number)):
                    new += 1
                    transaction.append(
                        NewEvent(
                            kind=EventKind.HELD, annotator=IMPORTED, question=number, value=kept
                        )
                    )
            return Held(new=new, there=len(told) - new - otherwise, otherwise=otherwise)

        return self._runtime.write(take)

    def add_gold(self, answers: Iterable[Answer]) -> Held:
        """Mix questions whose answers are known with the others, unmarked.

        One in ten questions of everybody is one of them, at a random place, as long as there are
        some that they have not answered. They cost no budget; the known answers are evidence, and
        what people say to them tells how far to rely on each (`gold_report`). With the option
        "gold_feedback" the receipt of an answer has the known one.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            Of the kind that the session asks, and not "cannot say".

        Returns
        -------
        Held
            How many were new, there already, or there otherwise; those stay as they are.

        Raises
        ------
        SessionError
            If an answer is to another kind of question.
        QueryError, AnswerError, KeyConflictError
            As in `hold`; then none is taken in.

        Examples
        --------
        >>> from askmeans.queries import Answer
        >>> session = open("pets.db")
        >>> session.add_gold([Answer(round=0, kind="group", items=(3,), cluster=None, repeat=0,
        ...                          value=(0.0, 1.0))]).new
        1
        """
        listed = list(answers)
        kinds = {answer.kind for answer in listed} - {self.config.ask}
        if kinds:
            raise SessionError(
                "Gold answers must be to questions of the kind that the session asks "
                f"({self.config.ask}). Got {', '.join(sorted(kinds))}."
            )

        def take(transaction: Transaction) -> Held:
            told = _checked_answers(listed, len(self.rows), self._runtime.groups.n)
            if None in told.values():
                raise SessionError("A gold answer must say something. Got 'cannot say'.")
            new = otherwise = 0
            numbers = transaction.add_questions(list(told))
            for number, value in zip(numbers, told.values(), strict=True):
                known = self._runtime.state.gold.get(number)
                if known is None:
                    new += 1
                    transaction.append(
                        NewEvent(kind=EventKind.GOLD, annotator=GOLD, question=number, value=value)
                    )
                else:
                    otherwise += known.value != value
            return Held(new=new, there=len(told) - new - otherwise, otherwise=otherwise)

        return self._runtime.write(take)

    def add_rows(self, X: Any, *, items: Any = None, ids: Any = None) -> None:
        """Add items; they get memberships from what the answers taught, and no answer is lost.

        People are asked about them as about the others.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            New rows, with the features of the first ones, scaled as those were.
        items : object or None, default=None
            What people should see of them, as in `create`.
        ids : sequence of str or None, default=None
            What they are called; row numbers where None.

        Raises
        ------
        DataError
            If they have other features, or an id that is there already.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> session.add_rows([[1.5]], items=["quince"])
        >>> session.item(4).text, session.result().memberships.shape
        ('quince', (5, 2))
        """

        def added(transaction: Transaction) -> list[NewEvent]:
            if len(self._store.parts(self._record.id)) != part.part:
                raise SessionError("Somebody else added rows just now. Got yours, too; try again.")
            transaction.add_part(part, chunks_at_rest(matrix, part))
            return [NewEvent(kind=EventKind.ROWS, annotator=ME, target=part.part)]

        with self._runtime.up_to_date():  # other threads' rows come before, or after
            matrix, part = self.rows.prepare(X, items=items, ids=ids)
            self._assignment.append(added)
            self.rows.load()

    def close(self) -> None:
        """Let go of the database; what was told is safe without it.

        Examples
        --------
        >>> open("fruit.db").close()
        """
        self._runtime.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.name!r} in {self.url}>"


def _checked_answers(
    answers: Iterable[Answer], n_items: int, n_clusters: int
) -> dict[Question, Value | None]:
    """What is told to each question; refused where that is nothing here, or two things."""
    told: dict[Question, Value | None] = {}
    first: dict[Question, str] = {}  # who gave them
    for answer in answers:
        asked = _question(answer, n_items, n_clusters)
        value = _value(answer, n_clusters)
        who = first.setdefault(asked, answer.annotator)
        if told.setdefault(asked, value) != value:
            one, other = f"{told[asked]}", f"{value}"
            if who != answer.annotator:
                one, other = f"{one} by {who}", f"{other} by {answer.annotator}"
            raise KeyConflictError(
                f"Imported answers must be one to each question, here {_told(asked)}. "
                f"Got {one} and {other}; nothing was taken in. Where several people answered, "
                "import what they say together: `askmeans import` takes the mean of rows, or the "
                "median of numbers, of a CSV with the column annotator."
            )
    return told


def _question(answer: Answer, n_items: int, n_clusters: int) -> Question:
    """The question of an answer; refused where it is about nothing here."""
    items = tuple(int(item) for item in answer.items)
    width = KINDS[answer.kind].width if answer.kind in KINDS else 0
    if len(set(items)) != width or not all(0 <= i < n_items for i in items):
        raise QueryError(
            f"A {answer.kind} held must be about different items from 0 to {n_items - 1}. "
            f"Got {items} instead."
        )
    cluster = None
    if answer.kind == "membership":
        if answer.cluster is None or not 0 <= answer.cluster < n_clusters:
            raise QueryError(
                f"A membership held must be about a cluster from 0 to {n_clusters - 1}. "
                f"Got {answer.cluster} instead."
            )
        cluster = int(answer.cluster)
    if not 0 <= answer.repeat < 2**63:
        raise QueryError(f"A repeat held must be from 0. Got {answer.repeat!r:.60} instead.")
    return Question(answer.kind, ordered(answer.kind, items), cluster, int(answer.repeat))


def _value(answer: Answer, n_clusters: int) -> Value | None:
    """What is kept of an answer; None for "cannot say"."""
    if answer.kind == "group":
        row = answer.value
        if not isinstance(row, tuple) or not 1 <= len(row) <= n_clusters:
            raise AnswerError(
                f"An answer held to a group question must be a tuple of at most {n_clusters} "
                f"shares. Got {row!r:.60} instead."
            )
        known = [share for share in row if not math.isnan(share)]  # of a group not there yet
        if known and not all(map(math.isnan, row[len(known) :])):
            raise AnswerError(f"A row held must be whole. Got {row!r:.60} instead.")
        return as_row(tuple(known), len(known)) if known else None
    if answer.number != answer.number:
        return None
    if not 0 <= answer.number <= 1:
        raise AnswerError(f"An answer held must lie in [0, 1]. Got {answer.number!r:.60} instead.")
    return float(answer.number) + 0.0


def _told(question: Question) -> str:
    """A question in a message."""
    cluster = "" if question.cluster is None else f" in cluster {question.cluster}"
    return f"the {question.kind} of {', '.join(map(str, question.items))}{cluster}"
