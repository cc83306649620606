"""What the owner of a session does with it: pauses it, names clusters, adds rows and answers."""

from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from askmeans.checks import check_name, check_number, check_positive
from askmeans.exceptions import ParameterError, SessionError
from askmeans.queries import ME, Answer
from askmeans.sessions.assignment import Assignment
from askmeans.sessions.config import Config
from askmeans.sessions.imported import import_answers
from askmeans.sessions.invites import Invitations
from askmeans.sessions.log import EventKind, NewEvent
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
        self.config = Config.from_json(record.config)
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
                    f"Got {cluster} and {name!r} instead."
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
            n_items = len(self.rows.base if self.config.has_plan else self.rows)
            return import_answers(
                transaction, listed, self._runtime.state, n_items, self._runtime.groups.n
            )

        return self._runtime.write(take)

    def add_rows(self, X: Any, *, items: Any = None, ids: Any = None) -> None:
        """Add items; they get memberships from what the answers taught, and no answer is lost.

        The default strategy asks about them like about others. The paper's strategies go on asking
        about the rows the session began with.

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
        with self._runtime.up_to_date():
            matrix, part = self.rows.prepare(X, items=items, ids=ids)

        def added(transaction: Transaction) -> list[NewEvent]:
            if len(self._store.parts(self._record.id)) != part.part:
                raise SessionError("Somebody else added rows just now. Got yours, too; try again.")
            transaction.add_part(part, chunks_at_rest(matrix, part))
            return [NewEvent(kind=EventKind.ROWS, annotator=ME, target=part.part)]

        self._assignment.append(added)
        with self._runtime.lock:
            self.rows.load()

    def close(self) -> None:
        """Let go of the database; what was told is safe without it.

        Examples
        --------
        >>> open("fruit.db").close()
        """
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.name!r} in {self.url}>"
