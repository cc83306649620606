"""A session: ask, tell, skip, cannot say, undo; durable, for several people and processes."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from askmeans._util.checks import check_number, check_positive
from askmeans._util.text import html_table
from askmeans.exceptions import ParameterError, SessionError
from askmeans.queries import ME, Answer
from askmeans.queries import Question as AskedQuestion
from askmeans.queries.questions import KINDS, ordered
from askmeans.results import ErrorEstimate
from askmeans.sessions.advisers import Advisers
from askmeans.sessions.assignment import Assignment
from askmeans.sessions.config import Config
from askmeans.sessions.conflicts import find_conflicts
from askmeans.sessions.display import Item
from askmeans.sessions.events import AddRows, Event, Reply, Skip, Unsure, WantOpinions
from askmeans.sessions.events import Answer as AnswerEvent
from askmeans.sessions.groups import Groups
from askmeans.sessions.history import History
from askmeans.sessions.imports import import_answers
from askmeans.sessions.log import ITSELF, as_key, check_annotator
from askmeans.sessions.moves import Moves
from askmeans.sessions.people import People
from askmeans.sessions.reports import ImportReport, Question, SessionResult, Status, Undone
from askmeans.sessions.results import Results
from askmeans.sessions.rows import Rows, chunks_at_rest
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.settings import Settings
from askmeans.sessions.store.records import SessionRecord
from askmeans.spec import SIMILARITIES

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store, Transaction


class Session:
    """Questions and answers that are never lost; `create` makes one, `open` goes on with it.

    An answer is on disk before `tell` returns. Methods may be called from several threads, and
    several processes may work on one session. Where nothing is left to ask an annotator, `ask`
    returns an empty list and `status` says why.

    Parameters
    ----------
    store : Store
        Where it is stored.
    record : SessionRecord
        What the store knows of it.

    Attributes
    ----------
    groups : sequence of Group
        The groups, and what may be done with them: add, rename, describe, merge, split, remove,
        refine, flatten, pin.
    people : People
        Invitations, agreement, decisions, gold questions, pseudonyms.
    advisers : Advisers
        Answers of language models and other classifiers.
    history : History
        Answers and changes so far.
    settings : Settings
        Budget, pause, the page's options.
    config : Config
        What the session was created with.
    rows : Rows
        The items.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> question, = session.ask()
    >>> session.item(question.items[0]).label, session.groups[question.cluster].name
    ('apple', 'small')
    >>> session.tell(question.id, 0.0).late
    False
    >>> session.status().answered
    1
    """

    def __init__(self, store: "Store", record: SessionRecord) -> None:
        self.config = Config.of_session(record, store.url)
        self.rows = Rows(store, record)
        self.runtime = Runtime(store, record, self.config, self.rows)
        self._assignment = Assignment(self.runtime)
        self._moves = Moves(self.runtime)
        self._results = Results(self.runtime)
        self.groups = Groups(self.runtime, self._moves, self._results)
        self.people = People(self.runtime, self._moves, self._results)
        self.advisers = Advisers(self.runtime, self._moves, self._assignment, self._results)
        self.history = History(self.runtime, self._moves, self._results)
        self.settings = Settings(self.runtime, self._moves)

    @property
    def name(self) -> str:
        """The session's name in its database."""
        return self.runtime.record.name

    @property
    def url(self) -> str:
        """Where it is stored."""
        return self.runtime.store.url

    @property
    def fingerprint(self) -> str:
        """A digest of the data that it was created with."""
        return self.runtime.record.fingerprint

    @property
    def retry_timeout(self) -> float:
        """Seconds to try again where the database cannot be reached; 30 unless set."""
        return self.runtime.store.retry_timeout

    @retry_timeout.setter
    def retry_timeout(self, seconds: float) -> None:
        check_positive(seconds, "retry_timeout", "Session")
        self.runtime.store.retry_timeout = float(seconds)

    def ask(
        self, n: int = 1, *, annotator: str = ME, lease_seconds: float | None = None
    ) -> list[Question]:
        """Questions for an annotator, leased to them for a while.

        Asking again returns one's own open questions and renews their leases. Where nothing else is
        left, one is taken over from an annotator who holds several: the one leased first.

        Parameters
        ----------
        n : int, default=1
            How many at most; an annotator holds at most 48.
        annotator : str, default="me"
            Who will answer.
        lease_seconds : float or None, default=None
            How long they are leased; None, and at most, for as long as the session's leases last.

        Returns
        -------
        list of Question
            Up to n; empty where there is nothing to ask them now, and `status` says why.
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
        """Add a question of one's own, leased to the annotator, whatever the budget.

        Parameters
        ----------
        kind : {"membership", "group", "pair", "triplet", "relative"}
            A session that compares items takes all kinds, others memberships and groups.
        items : tuple of int
            Row numbers, all different: one, two for a pair, else three.
        cluster : int or None, default=None
            The group, for a membership; for a group the one whose sub-groups are asked for.
        annotator : str, default="me"
            Who will answer.

        Returns
        -------
        Question
            The question, also where it existed before.
        """
        compares = self.config.ask in SIMILARITIES
        taken = [name for name, each in KINDS.items() if each.width == 1 or compares]
        if kind not in taken:
            raise SessionError(
                "The 'kind' parameter of Session.add_question must be a question that a session "
                f"with ask={self.config.ask!r} takes: {', '.join(taken)}. Got {kind!r:.40}.",
                user_message="Items cannot be put into groups by hand in this session: it asks "
                "its own questions only. Answer those.",
            )
        rows, width = ordered(kind, map(int, items)), KINDS[kind].width
        known = all(0 <= row < len(self.rows) for row in rows)
        if len(set(rows)) != width or len(rows) != width or not known:
            raise ParameterError(
                "The 'items' parameter of Session.add_question must be so many different rows "
                f"below {len(self.rows)}: {width}. Got {items!r:.60} instead."
            )
        groups: list[Any] = [None]
        if kind == "membership":
            groups = self.runtime.groups.children(None)
        elif kind == "group":  # its sub-groups are asked for
            groups = [None, *self.runtime.groups.inner]
        if cluster not in groups:
            raise ParameterError(
                "The 'cluster' parameter of Session.add_question must be the number of a group at "
                "the top for a membership, None or that of one with sub-groups for a group, else "
                f"None. Got {cluster!r:.40} instead."
            )
        return self._assignment.hand_over(AskedQuestion(kind, rows, cluster), annotator)

    def upcoming(self, n: int, *, annotator: str = ME) -> list[tuple[int, ...]]:
        """Rows that an annotator will probably be asked about next, to prepare for it.

        Parameters
        ----------
        n : int
            How many questions at most.
        annotator : str, default="me"
            Who will answer.

        Returns
        -------
        list of tuple of int
            The rows of each question; nothing is leased, and other answers may change them.
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
            The client's own key of this answer. The same key and answer again is harmless and
            returns the first receipt. None for a new key.

        Returns
        -------
        Reply
            The stored answer. `late` where the lease had ended, the question was settled or the
            budget was spent.

        Raises
        ------
        AnswerError
            If the value is no number from 0 to 1, no point of the scale (`levels`), or no group.
        QueryError
            If there is no such question.
        KeyConflictError
            If the key was used for something else or its answer was taken back, or the question
            was answered otherwise before.
        BudgetError
            If the budget is spent and the question was never handed out to them.

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
        answer = self._moves.checked_value(question_id, value, self._results.names)
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
        """Replace one's own answer: both the undo and the new answer are stored, or neither.

        A question that was not answered before is answered as by `tell`.

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
            The stored answer; `repeated` where the answer was the same already.
        """
        kind: type[Reply] = Unsure
        answer = None
        if value is not None:
            check_annotator(annotator, person=True)
            as_key(key)
            kind = AnswerEvent
            answer = self._moves.checked_value(question_id, value, self._results.names)
        return self._moves.reply(kind, question_id, answer, annotator, key, instead=True)

    def unsure(self, question_id: int, *, annotator: str = ME, key: str | None = None) -> Reply:
        """Answer "cannot say"; it costs budget, as an answer does.

        Parameters
        ----------
        question_id, annotator, key : as in `tell`
            The question, who cannot say, and the client's key.

        Returns
        -------
        Reply
            The stored event.
        """
        return self._moves.reply(Unsure, question_id, None, annotator, key)

    def skip(self, question_id: int, *, annotator: str = ME, key: str | None = None) -> Reply:
        """Leave a question open: for another annotator, or for when nothing else is left.

        Parameters
        ----------
        question_id, annotator, key : as in `tell`
            The question, who skips it, and the client's key.

        Returns
        -------
        Reply
            The stored event.
        """
        return self._moves.reply(Skip, question_id, None, annotator, key)

    def renew(self, *, annotator: str = ME, lease_seconds: float | None = None) -> None:
        """Renew the leases that an annotator has; those that ended stay as they are.

        Parameters
        ----------
        annotator : str, default="me"
            Who holds them.
        lease_seconds : float or None, default=None
            How long from now on, as in `ask`.
        """
        if lease_seconds is not None:
            check_positive(lease_seconds, "lease_seconds", "Session.renew")
        self._assignment.renew(annotator, lease_seconds)

    def leave(self, *, annotator: str = ME) -> None:
        """Stop for now: others may have the questions that one holds.

        An annotator who comes back gets those that were not taken; an answer to another is still
        accepted, marked `late`.

        Parameters
        ----------
        annotator : str, default="me"
            Who stops.
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
        """Take back one's last answer or skip, or what one did to the groups after it.

        `History.take_back` reverses any change of the groups, also another's.

        Its question is open again, and one's own; unless another annotator had answered it later,
        whose answer counts then. A group that was added for the answer (`groups.add_for`) goes with
        it, if nothing else is in it.

        Parameters
        ----------
        question_id : int or None, default=None
            The question whose answer is taken back; None for the last one given.
        annotator, key : as in `tell`
            Whose answer, and the client's key: the same again undoes nothing more.
        event : int or None, default=None
            The `event` of the answer that is meant; refused where it no longer stands.

        Returns
        -------
        Undone
            What was taken back.

        Raises
        ------
        SessionError
            If there is nothing to take back, or it is no longer the `event` that was meant.

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
        """Where the session stands.

        Parameters
        ----------
        annotator : str or None, default=None
            For whom `state` is reported; None for anybody.
        estimate : bool, default=False
            Compute a result, for how many items are probably wrong, and for contradictions.

        Returns
        -------
        Status
            The state, counts, and what is left.
        """
        if annotator is not None:
            annotator = check_annotator(annotator)
        self.runtime.catch_up()
        state = self._assignment.state_for(annotator)
        now, leases = self.runtime.leases()
        report = self._results.status(state, self.runtime.in_force(leases, now), now)
        if not estimate:
            return report
        result = self.result()
        conflicts = find_conflicts(
            self.history.answers(), self.question, len(result.group_names),
            levels=self.config.levels, noise=result.clustering.diagnostics.noise,
        )  # fmt: skip
        return replace(self._results.with_error(report, result), contradictions=conflicts)

    def result(self) -> SessionResult:
        """The best clustering from the answers so far, and what is missing.

        Returns
        -------
        SessionResult
            Centres, memberships of all rows, and an account.
        """
        self.runtime.catch_up()
        return self._results.result(self._assignment.state_for(None))

    def error_curve(self) -> tuple[ErrorEstimate, ...]:
        """How the estimated error of the result fell as answers came.

        Returns
        -------
        tuple of askmeans.results.ErrorEstimate
            At the numbers of answers at which models were fitted, and now; empty before the first.
        """
        return self.runtime.error_curve()

    def item(self, row: int) -> Item:
        """One item as a person should see it.

        Parameters
        ----------
        row : int
            Its row number, as questions have it.

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
            Its number; a QueryError where there is none.

        Returns
        -------
        Question
            The question, open or not.
        """
        return self.runtime.asked_question(question_id)

    def exemplars(
        self,
        group: int | str,
        n: int = 3,
        *,
        without: Collection[int] = (),
        placed_only: bool = False,
    ) -> list[int]:
        """Items that show what a group is: pinned, placed in it by answers, or near its centre.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        n : int, default=3
            How many at most.
        without : collection of int, default=()
            Rows that are left out: those of the items they are shown beside.
        placed_only : bool, default=False
            Only items that were pinned, or that answers place in the group.

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
        """Import answers, all or none: they are evidence, cost no budget and are not asked again.

        Each answer keeps its annotator, so several people's answers to one question are several
        opinions. What an annotator answered in the session stays as it is.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            Of a history, of a file, or your own.

        Returns
        -------
        ImportReport
            How many were new, existed before, or conflict with an answer given in the session.

        Raises
        ------
        QueryError, AnswerError
            If one is about an item or group that does not exist, or is no number from 0 to 1.
        KeyConflictError
            If one was imported with another value, or an annotator has two to a question.

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
        """Add items, which are asked about like the others.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            New rows, with the features of the first ones, scaled as those were.
        items : object or None, default=None
            What people should see of them, as in `create`.
        ids : sequence of str or None, default=None
            Their ids; row numbers where None.

        Raises
        ------
        DataError
            If they have other features, or an id that exists already.
        """

        def added(transaction: "Transaction") -> list[Event]:
            if len(self.runtime.store.parts(self.runtime.record.id)) != part.part:
                raise SessionError("Another process added rows at the same moment; try again.")
            transaction.add_part(part, chunks_at_rest(matrix, part))
            return [AddRows(annotator=ME, part=part.part)]

        with self.runtime.up_to_date():  # other threads' rows come before, or after
            matrix, part = self.rows.prepare(X, items=items, ids=ids)
            self._moves.append(added)
            self.rows.load()

    @contextmanager
    def reading_once(self) -> Iterator[None]:
        """Within this, in this thread or task, read the log once, not at every call.

        What is done here is visible at once; what others do meanwhile is seen by the next write.

        Yields
        ------
        None
            While it holds.
        """
        with self.runtime.reading_once():
            yield

    def warm_up(self) -> None:
        """Do now what the first question would wait for: load the data and rank the questions."""
        self.runtime.warm_up()

    def learn_aside(self) -> None:
        """Fit models in a thread of their own, for a process that serves many people.

        Where many answer at once none of them waits: earlier models decide until newer ones exist.
        """
        self.runtime.learn_aside()

    @property
    def is_busy(self) -> bool:
        """Whether many people wanted questions of this process in the last seconds."""
        return self.runtime.is_busy

    def check_writable(self) -> None:
        """Raise a StoreError where nothing could be saved now, for a health check."""
        self.runtime.write(lambda transaction: transaction.check_room())

    def close(self) -> None:
        """Close the database; all answers are stored already."""
        self.runtime.close()
        self.runtime.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.name!r} in {self.url}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: where it stands, and examples of every group."""
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
        """Ask one annotator more where models expected another answer than people gave."""
        number, value, runtime = answer.question, answer.value, self.runtime
        most, least = self.config.most_annotations, self.config.annotations
        if most is None or most <= least or value is None or answer.repeated:
            return
        with runtime.lock:
            first = runtime.state.count(number) == least == runtime.state.wanted(number)
        if first and runtime.is_surprising(number, value):
            self._moves.log(lambda: WantOpinions(annotator=ITSELF, question=number, n=least + 1))
