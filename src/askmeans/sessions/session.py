"""A session: durable questions and answers, for several annotators and processes."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from askmeans._util.checks import check_number, check_positive
from askmeans._util.text import html_table
from askmeans.exceptions import SessionError
from askmeans.queries import ME, Answer
from askmeans.results import ErrorEstimate
from askmeans.sessions.advisers import Advisers
from askmeans.sessions.assignment import Assignment
from askmeans.sessions.authors import ITSELF, as_key, check_annotator
from askmeans.sessions.config import Config
from askmeans.sessions.conflicts import comparable_answers, find_conflicts
from askmeans.sessions.display import Item
from askmeans.sessions.events import AddRows, Event, Reply, Skip, Unsure, WantOpinions
from askmeans.sessions.events import Answer as AnswerEvent
from askmeans.sessions.group_names import GroupNames
from askmeans.sessions.groups import Groups
from askmeans.sessions.history import History
from askmeans.sessions.imports import import_answers
from askmeans.sessions.learning import Learning
from askmeans.sessions.moves import Moves
from askmeans.sessions.people import People
from askmeans.sessions.reports import ImportReport, Question, SessionResult, Status, Undone
from askmeans.sessions.results import Results
from askmeans.sessions.rows import Rows, stored_chunks
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.settings import Settings
from askmeans.sessions.store.records import SessionRecord

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store, Transaction


class Session:
    """Durable questions and answers; `create` makes a session, `open` continues it.

    An answer is on disk before `tell` returns. Methods may be called from several threads, and
    several processes may work on one session. If there is no question for an annotator, `ask`
    returns an empty list and `status` has the reason.

    Parameters
    ----------
    store : Store
        The database.
    record : SessionRecord
        The stored session.

    Attributes
    ----------
    groups : sequence of Group
        The groups, with methods to add, rename, describe, merge, split, remove, refine, flatten and
        pin.
    people : People
        Invitations, agreement, decisions, gold questions, pseudonyms.
    advisers : Advisers
        Answers of language models and other classifiers.
    history : History
        Answers, changes and all events.
    settings : Settings
        Budget, pause, the page's options.
    config : Config
        The parameters of `create`.
    rows : Rows
        The items.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> question, = session.ask()
    >>> session.item(question.items[0]).label, session.groups[question.cluster].name
    ('pear', 'small')
    >>> session.tell(question.id, 0.0).late
    False
    >>> session.status().answered
    1
    """

    def __init__(self, store: "Store", record: SessionRecord) -> None:
        self.config = Config.of_session(record, store.url)
        self.rows = Rows(store, record)
        self.runtime = Runtime(store, record, self.config, self.rows)
        self.learning = Learning(self.runtime)
        names = GroupNames(self.runtime, self.learning)
        self._assignment = Assignment(self.runtime, self.learning)
        self._moves = Moves(self.runtime, names)
        self._results = Results(self.runtime, self.learning, names)
        self.groups = Groups(self.runtime, self.learning, self._moves, names)
        self.people = People(self.runtime, self._moves, names)
        self.advisers = Advisers(
            self.runtime, self.learning, self._moves, self._assignment, names, self._results
        )
        self.history = History(self.runtime, self._moves, names)
        self.settings = Settings(self.runtime, self._moves)

    @property
    def name(self) -> str:
        """The session's name in its database."""
        return self.runtime.record.name

    @property
    def url(self) -> str:
        """The path or URL of the database, without secrets."""
        return self.runtime.store.url

    @property
    def fingerprint(self) -> str:
        """A digest of the data of `create`."""
        return self.runtime.record.fingerprint

    @property
    def retry_timeout(self) -> float:
        """Seconds of retries if the database cannot be reached; 30 by default."""
        return self.runtime.store.retry_timeout

    @retry_timeout.setter
    def retry_timeout(self, seconds: float) -> None:
        check_positive(seconds, "retry_timeout", "Session")
        self.runtime.store.retry_timeout = float(seconds)

    def ask(
        self, n: int = 1, *, annotator: str = ME, lease_seconds: float | None = None
    ) -> list[Question]:
        """Lease questions to an annotator.

        A further call returns the annotator's open questions and renews their leases. If no other
        question is left, the oldest lease of an annotator who holds several is taken over.

        Parameters
        ----------
        n : int, default=1
            Maximum number; an annotator holds at most 48.
        annotator : str, default="me"
            Who will answer.
        lease_seconds : float or None, default=None
            Duration of the leases, at most and by default that of the session.

        Returns
        -------
        list of Question
            Up to n; empty if there is none now, for the reason that `status` has.
        """
        check_number(n, "n", "Session.ask", integer=True, minimum=1)
        if lease_seconds is not None:
            check_positive(lease_seconds, "lease_seconds", "Session.ask")
        if self.config.grows:
            self.groups.grow()
        return self._assignment.ask(int(n), annotator, lease_seconds)

    def add_question(
        self, kind: str, items: tuple[int, ...], cluster: int | None = None, *, annotator: str = ME
    ) -> Question:
        """Add a question of your own, leased to the annotator; the budget does not limit it.

        Parameters
        ----------
        kind : {"membership", "group", "pair", "triplet", "relative"}
            Sessions that compare items take all kinds, others memberships and groups.
        items : tuple of int
            Row numbers, all different: one, two for a pair, else three.
        cluster : int or None, default=None
            The group, for a membership; for a group the one whose sub-groups are asked for.
        annotator : str, default="me"
            Who will answer.

        Returns
        -------
        Question
            The new question, or the existing one.
        """
        return self._assignment.add(kind, tuple(items), cluster, annotator)

    def upcoming(self, n: int, *, annotator: str = ME) -> list[tuple[int, ...]]:
        """Rows of an annotator's probable next questions, to prepare their display.

        Parameters
        ----------
        n : int
            Maximum number of questions.
        annotator : str, default="me"
            Who will answer.

        Returns
        -------
        list of tuple of int
            The rows of each question; these are not leased, and may change.
        """
        check_number(n, "n", "Session.upcoming", integer=True, minimum=1)
        return [tuple(each.items) for each in self._assignment.upcoming(int(n), annotator)]

    def tell(
        self, question_id: int, value: Any, *, annotator: str = ME, key: str | None = None
    ) -> Reply:
        """Answer a question; the answer is on disk when this returns.

        Parameters
        ----------
        question_id : int
            The question's `id`.
        value : float, or int, str, mapping or () for a group question
            The answer, from 0 to 1. To a group question a group's number or name, a mapping of
            groups to shares that sum to at most 1, or () for none of these. Where sub-groups are
            asked for, the group itself stands for none of its sub-groups.
        annotator : str, default="me"
            Who answers.
        key : str or None, default=None
            The client's key of this answer. The same key and answer again have no effect and
            return the first receipt. None for a new key.

        Returns
        -------
        Reply
            The stored answer; `late` if the lease had ended, the question was settled or the budget
            was spent.

        Raises
        ------
        AnswerError
            If the value is not in [0, 1], not on the scale (`levels`), or no group.
        QueryError
            If there is no such question.
        KeyConflictError
            If the key was used for another event or its answer was taken back, or the annotator
            gave another answer before.
        BudgetError
            If the budget is spent and the question was not issued to the annotator.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask()
        >>> session.tell(question.id, 0.25, key="a").repeated
        False
        >>> session.tell(question.id, 0.25, key="a").repeated  # the network was slow
        True
        """
        check_annotator(annotator, person=True)
        as_key(key)
        answer = self._moves.checked_value(question_id, value)
        reply = self._moves.reply(AnswerEvent, question_id, answer, annotator, key)
        self._want_another_opinion(reply)
        return reply

    def change(
        self,
        question_id: int,
        value: Any,
        *,
        annotator: str = ME,
        key: str | None = None,
    ) -> Reply:
        """Replace an annotator's answer: the undo and the new answer are stored together.

        A question without an answer is answered as by `tell`.

        Parameters
        ----------
        question_id : int
            The question's `id`.
        value : as in `tell`, or None
            The new answer; None for "cannot say".
        annotator, key : as in `tell`
            Whose answer, and the client's key.

        Returns
        -------
        Reply
            The stored answer; `repeated` if it is the same as before.
        """
        kind: type[Reply] = Unsure
        answer = None
        if value is not None:
            check_annotator(annotator, person=True)
            as_key(key)
            kind = AnswerEvent
            answer = self._moves.checked_value(question_id, value)
        return self._moves.reply(kind, question_id, answer, annotator, key, instead=True)

    def unsure(self, question_id: int, *, annotator: str = ME, key: str | None = None) -> Reply:
        """Answer "cannot say"; it costs budget, as an answer does.

        Parameters
        ----------
        question_id, annotator, key : as in `tell`
            The question, the annotator and the client's key.

        Returns
        -------
        Reply
            The stored event.
        """
        return self._moves.reply(Unsure, question_id, None, annotator, key)

    def skip(self, question_id: int, *, annotator: str = ME, key: str | None = None) -> Reply:
        """Leave a question open, for other annotators or for later.

        Parameters
        ----------
        question_id, annotator, key : as in `tell`
            The question, the annotator and the client's key.

        Returns
        -------
        Reply
            The stored event.
        """
        return self._moves.reply(Skip, question_id, None, annotator, key)

    def renew(self, *, annotator: str = ME, lease_seconds: float | None = None) -> None:
        """Renew the leases of an annotator that have not ended.

        Parameters
        ----------
        annotator : str, default="me"
            The annotator.
        lease_seconds : float or None, default=None
            Duration from now on, as in `ask`.
        """
        if lease_seconds is not None:
            check_positive(lease_seconds, "lease_seconds", "Session.renew")
        self._assignment.renew(annotator, lease_seconds)

    def leave(self, *, annotator: str = ME) -> None:
        """End the leases of an annotator who stops for now.

        A returning annotator gets the questions that others did not take; answers to the others are
        still accepted and marked `late`.

        Parameters
        ----------
        annotator : str, default="me"
            The annotator.
        """
        self._assignment.renew(annotator, 0.0)

    def undo(
        self,
        question_id: int | None = None,
        *,
        annotator: str = ME,
        key: str | None = None,
        event: int | None = None,
    ) -> Undone:
        """Take back an annotator's last answer, skip or change of groups.

        `History.take_back` reverses changes of groups by anyone. The question is open again and
        leased to the annotator; unless another annotator answered it later, whose answer then
        counts. A group that was added for the answer (`groups.add_for`) is removed with it, if it
        is otherwise empty.

        Parameters
        ----------
        question_id : int or None, default=None
            The question whose answer is taken back; None for the last event.
        annotator, key : as in `tell`
            The annotator, and the client's key: the same key again has no effect.
        event : int or None, default=None
            The `event` of the answer; an error is raised if it is no longer valid.

        Returns
        -------
        Undone
            What was taken back.

        Raises
        ------
        SessionError
            If there is nothing to take back, or the answer is no longer this `event`.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask()
        >>> receipt = session.tell(question.id, 0.9)
        >>> undone = session.undo()
        >>> undone.value, session.ask()[0].id == question.id
        (0.9, True)
        """
        return self._moves.undo(question_id, annotator, key, event)

    def status(self, *, annotator: str | None = None, estimate: bool = False) -> Status:
        """The status of the session.

        Parameters
        ----------
        annotator : str or None, default=None
            The annotator of `state`; None for all.
        estimate : bool, default=False
            Compute a result, for the expected number of wrong items and for contradictions.

        Returns
        -------
        Status
            State, counts, and the questions left.
        """
        if annotator is not None:
            annotator = check_annotator(annotator)
        self.learning.catch_up()
        state = self._assignment.state_for(annotator)
        now, leases = self.runtime.leases()
        report = self._results.status(state, self.runtime.leases_in_force(leases, now), now)
        if not estimate:
            return report
        result = self.result()
        conflicts = find_conflicts(
            comparable_answers(self.runtime), self.question, len(result.group_names),
            levels=self.config.levels, noise=result.clustering.diagnostics.noise,
        )  # fmt: skip
        return replace(self._results.with_error(report, result), contradictions=conflicts)

    def result(self) -> SessionResult:
        """The best clustering from the answers so far.

        Returns
        -------
        SessionResult
            Centres, memberships of all rows, their expected errors, and the questions left.
        """
        self.learning.catch_up()
        return self._results.result(self._assignment.state_for(None))

    def error_curve(self) -> tuple[ErrorEstimate, ...]:
        """The estimated error of the result by the number of answers.

        Returns
        -------
        tuple of askmeans.results.ErrorEstimate
            At each number of answers at which models were fitted, and now; empty before the first.
        """
        return self.learning.error_curve()

    def item(self, row: int) -> Item:
        """One item, for display.

        Parameters
        ----------
        row : int
            Its row number.

        Returns
        -------
        Item
            Id, label, fields, text and image.
        """
        return self.rows.item(row)

    def question(self, question_id: int) -> Question:
        """A question by its number.

        Parameters
        ----------
        question_id : int
            Its number; a QueryError for an unknown one.

        Returns
        -------
        Question
            The question.
        """
        return self.runtime.numbered_question(question_id)

    def exemplars(
        self,
        group: int | str,
        n: int = 3,
        *,
        without: Collection[int] = (),
        placed_only: bool = False,
    ) -> list[int]:
        """Items that exemplify a group: pinned, placed in it by answers, or near its centre.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        n : int, default=3
            Maximum number.
        without : collection of int, default=()
            Rows to leave out, such as the item of the question.
        placed_only : bool, default=False
            Only items that were pinned or placed in the group by answers.

        Returns
        -------
        list of int
            Row numbers, the most typical first.
        """
        check_number(n, "n", "Session.exemplars", integer=True, minimum=1)
        with self.runtime.lock:
            number = self.groups.number(group)
            return self._results.exemplars(number, int(n), set(without), placed_only=placed_only)

    def import_answers(self, answers: Iterable[Answer]) -> ImportReport:
        """Import answers, all or none: they count, cost no budget and are not asked again.

        Each answer keeps its annotator, so answers of several annotators to one question are
        several opinions. Answers that were given in the session do not change.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            Answers of a history, of a file, or your own.

        Returns
        -------
        ImportReport
            The numbers of new, existing and conflicting answers.

        Raises
        ------
        QueryError, AnswerError
            If one is about an unknown item or group, or is not in [0, 1].
        KeyConflictError
            If one was imported with another value before, or an annotator has two for a question.

        Examples
        --------
        >>> from askmeans.queries import Answer
        >>> session = open("fruit.db")
        >>> session.import_answers([Answer(round=0, kind="membership", items=(3,), cluster=0,
        ...                                repeat=0, value=0.0)])
        ImportReport(new=1, existing=0, conflicting=0)
        """
        return import_answers(self.runtime, answers)

    def add_rows(self, X: Any, *, items: Any = None, ids: Any = None) -> None:
        """Add items.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            New rows, with the features and the scale of the first ones.
        items : object or None, default=None
            Their display, as in `create`.
        ids : sequence of str or None, default=None
            Their ids; None for row numbers.

        Raises
        ------
        DataError
            If they have other features, or an id exists already.
        """

        def added(transaction: "Transaction") -> list[Event]:
            if len(self.runtime.store.parts(self.runtime.record.id)) != part.part:
                raise SessionError("Another process added rows at the same moment; try again.")
            transaction.add_part(part, stored_chunks(matrix, part))
            return [AddRows(annotator=ME, part=part.part)]

        with self.runtime.up_to_date():  # one thread at a time
            matrix, part = self.rows.prepare(X, items=items, ids=ids)
            self._moves.append(added)
            self.rows.load()

    @contextmanager
    def reading_once(self) -> Iterator[None]:
        """Read the log once within this block, in this thread or task, not at every call.

        Your own changes are visible at once, those of others after the next write.

        Yields
        ------
        None
            While it holds.
        """
        with self.runtime.reading_once():
            yield

    def warm_up(self) -> None:
        """Load the data and rank the questions, so that the first question is fast."""
        self.learning.warm_up()

    def learn_aside(self) -> None:
        """Fit models in a thread of its own, for a process that serves many people.

        In a crowd no one waits for a fit: earlier models choose the questions until it ends.
        """
        self.learning.fitter.start()

    @property
    def is_busy(self) -> bool:
        """Whether many people asked this process for questions in the last seconds."""
        return self.learning.fitter.is_busy

    def check_writable(self) -> None:
        """Raise a StoreError if an answer could not be stored now, for a health check."""
        self.runtime.write(lambda transaction: transaction.check_room())

    def close(self) -> None:
        """Close the database."""
        self.learning.fitter.close()
        self.runtime.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.name!r} in {self.url}>"

    def _repr_html_(self) -> str:
        """Show the status, and examples of every group, in a notebook."""
        status = self.status()
        facts: list[tuple[str, object]] = [
            ("state", status.state.value),
            ("items", len(self.rows)),
            ("answered", status.answered),
            ("budget", status.budget),
            ("about left", status.left.high),
        ]
        examples = [
            [group.name, " · ".join(self.item(row).label for row in self.exemplars(group.number))]
            for group in self.groups
        ]
        return html_table(f"Session {self.name}", facts, [["group", "examples"], *examples])

    def _want_another_opinion(self, answer: Reply) -> None:
        """Ask a further annotator if models expected another answer."""
        number, value, runtime = answer.question, answer.value, self.runtime
        most, least = self.config.most_annotations, self.config.annotations
        if most is None or most <= least or value is None or answer.repeated:
            return
        with runtime.lock:
            first = runtime.state.count(number) == least == runtime.state.wanted(number)
        if first and self.learning.is_surprising(number, value):
            self._moves.log(lambda: WantOpinions(annotator=ITSELF, question=number, n=least + 1))
