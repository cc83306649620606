"""A session: ask, tell, skip, cannot say, undo; durable, for several people and processes."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from askmeans._util.checks import check_number, check_positive
from askmeans._util.text import html_table
from askmeans.exceptions import ParameterError
from askmeans.queries import ME
from askmeans.results import ErrorEstimate
from askmeans.sessions.conflicts import find_conflicts
from askmeans.sessions.display import Item
from askmeans.sessions.log import EventKind, as_key, check_annotator
from askmeans.sessions.owner import SessionOwner
from askmeans.sessions.reports import Question, Receipt, SessionResult, Status, Undone

__all__ = ["Session"]


class Session(SessionOwner):
    """Questions and answers that are never lost; `create` makes one, `open` goes on with it.

    An answer is on disk before `tell` returns. Methods may be called from several threads, and
    several processes may work on one session. Where there is nothing to ask somebody, `ask` returns
    an empty list and `status` says why.

    Parameters
    ----------
    store : Store
        Where it is kept.
    record : SessionRecord
        What the store knows of it.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> question, = session.ask()
    >>> session.item(question.items[0]).label, session.cluster_names[question.cluster]
    ('pumpkin', 'small')
    >>> session.tell(question.id, 0.0).late
    False
    >>> session.status().answered
    1
    """

    @contextmanager
    def reading_once(self) -> Iterator[None]:
        """Within this, in this thread or task, read the log once, not at every call.

        For whoever makes several calls in a row and does not wait in between, as a page does. What
        is done here is known at once; what others do meanwhile is seen by the next move.

        Yields
        ------
        None
            While it holds.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> with session.reading_once():
        ...     receipt = session.tell(session.ask()[0].id, 0.5)
        ...     print(session.status().answered, session.options["purpose"] == "")
        1 True
        """
        with self._runtime.reading_once():
            yield

    def warm_up(self) -> None:
        """Do now what the first question would wait for: load the data and rank the questions.

        Examples
        --------
        >>> open("fruit.db").warm_up()
        """
        self._runtime.warm_up()

    def learn_aside(self) -> None:
        """Learn models in a thread of their own from now on, for a process that serves many people.

        Who asks waits for them, as ever; but where many people answer at once nobody does: what was
        learnt before decides, until the newer models are there.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> session.learn_aside()
        >>> len(session.ask())
        1
        >>> session.close()
        """
        self._runtime.learn_aside()

    @property
    def is_busy(self) -> bool:
        """Whether many people wanted questions of this process in the last seconds."""
        return self._runtime.is_busy

    def ask(self, n: int = 1, *, annotator: str = ME) -> list[Question]:
        """Questions for somebody, leased to them for a while.

        Asking again returns one's own open questions and renews their leases. Where nothing else is
        left, one is taken over from somebody who holds several: the one leased first.

        Parameters
        ----------
        n : int, default=1
            How many at most; nobody holds more than 48.
        annotator : str, default="me"
            Who will answer.

        Returns
        -------
        list of Question
            Up to n; empty where there is nothing to ask them now, and `status` says why.

        Examples
        --------
        >>> open("fruit.db").ask()
        [Question(id=1, kind='membership', items=(3,), cluster=0, repeat=0)]
        """
        check_number(n, "n", "Session.ask", integer=True, minimum=1)
        self._grow()
        return self._assignment.ask(int(n), annotator)

    def ask_row(self, *, annotator: str = ME, lease_seconds: float | None = None) -> list[Question]:
        """One question for somebody, and with a membership the other open ones of its item.

        Parameters
        ----------
        annotator : str, default="me"
            Who will answer.
        lease_seconds : float or None, default=None
            How long they are leased; None, and at most, for as long as the session's leases last.

        Returns
        -------
        list of Question
            The question that `ask` returns comes first. What they skipped does not come along.

        Examples
        --------
        >>> [question.items for question in open("fruit.db").ask_row()]
        [(3,)]
        """
        if lease_seconds is not None:
            check_positive(lease_seconds, "lease_seconds", "Session.ask_row")
        self._grow()
        return self._assignment.ask(1, annotator, whole_row=True, seconds=lease_seconds)

    def upcoming(self, n: int, *, annotator: str = ME) -> list[tuple[int, ...]]:
        """Items that somebody will likely be asked about next, for whoever prepares for it.

        Parameters
        ----------
        n : int
            How many questions at most.
        annotator : str, default="me"
            Who will answer.

        Returns
        -------
        list of tuple of int
            The row numbers of each question; nothing is leased, and other answers may change it.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> session.upcoming(2) == [question.items for question in session.ask(2)]
        True
        """
        check_number(n, "n", "Session.upcoming", integer=True, minimum=1)
        return [tuple(asked.items) for asked in self._assignment.upcoming(int(n), annotator)]

    def tell(
        self, question_id: int, value: Any, *, annotator: str = ME, key: str | None = None
    ) -> Receipt:
        """Answer a question; the answer is on disk when this returns.

        Parameters
        ----------
        question_id : int
            The question's `id`.
        value : float, or int, str, mapping or () for a group question
            The answer, from 0 to 1. To a group question a group's number or name, a mapping of
            groups to shares that sum to at most 1, or () for none of these.
        annotator : str, default="me"
            Who answers.
        key : str or None, default=None
            The client's own key of this answer. The same key and answer again is harmless and
            returns the first receipt. None for a new key.

        Returns
        -------
        Receipt
            What was kept. `late` where the lease had ended, the question was settled or the
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
        told = self._as_answer(question_id, value)
        receipt = self._assignment.give(EventKind.ANSWER, question_id, told, annotator, key)
        self._doubt(receipt)
        return receipt

    def change(
        self,
        question_id: int,
        value: Any,
        *,
        annotator: str = ME,
        key: str | None = None,
    ) -> Receipt:
        """Put another answer in the place of one's own: both or neither is on disk.

        A value that is refused leaves the old answer as it is. Where one has not answered the
        question, it is answered as by `tell`.

        Parameters
        ----------
        question_id : int
            The question's `id`.
        value : as in `tell`, or None
            The new answer; None for "cannot say".
        annotator : str, default="me"
            Whose answer.
        key : str or None, default=None
            As in `tell`.

        Returns
        -------
        Receipt
            What was kept; `repeated` where the answer was the same already.

        Raises
        ------
        AnswerError, QueryError, KeyConflictError, BudgetError
            As in `tell`; the old answer stands then.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask()
        >>> receipt = session.tell(question.id, 0.25)
        >>> session.change(question.id, 0.75).value
        0.75
        >>> [receipt.value for receipt in session.history()]
        [0.75]
        """
        if value is None:
            kind, told = EventKind.UNSURE, None
        else:
            check_annotator(annotator, person=True)
            as_key(key)
            kind, told = EventKind.ANSWER, self._as_answer(question_id, value)
        return self._assignment.give(kind, question_id, told, annotator, key, instead=True)

    def unsure(self, question_id: int, *, annotator: str = ME, key: str | None = None) -> Receipt:
        """Say that one cannot say; it costs budget, as an answer does.

        Parameters
        ----------
        question_id : int
            The question's `id`.
        annotator : str, default="me"
            Who cannot say.
        key : str or None, default=None
            As in `tell`.

        Returns
        -------
        Receipt
            What was kept.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> session.unsure(session.ask()[0].id).kind
        'unsure'
        """
        return self._assignment.give(EventKind.UNSURE, question_id, None, annotator, key)

    def skip(self, question_id: int, *, annotator: str = ME, key: str | None = None) -> Receipt:
        """Leave a question open: for somebody else, or for later.

        Parameters
        ----------
        question_id : int
            The question's `id`.
        annotator : str, default="me"
            Who skips it; they get it again when nothing else is left.
        key : str or None, default=None
            As in `tell`.

        Returns
        -------
        Receipt
            What was kept.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> first, = session.ask()
        >>> receipt = session.skip(first.id)
        >>> session.ask()[0].id == first.id
        False
        """
        return self._assignment.give(EventKind.SKIP, question_id, None, annotator, key)

    def renew(self, *, annotator: str = ME, lease_seconds: float | None = None) -> None:
        """Go on holding the questions that one holds; what one no longer holds stays as it is.

        Parameters
        ----------
        annotator : str, default="me"
            Who holds them.
        lease_seconds : float or None, default=None
            How long from now on, as in `ask_row`.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask(annotator="Ada")
        >>> session.renew(annotator="Ada", lease_seconds=90.0)
        >>> round(session.status().holding[0].seconds) <= 90
        True
        """
        if lease_seconds is not None:
            check_positive(lease_seconds, "lease_seconds", "Session.renew")
        self._assignment.renew(annotator, lease_seconds)

    def leave(self, *, annotator: str = ME) -> None:
        """Stop for now: others may have the questions that one holds.

        Who comes back gets those of them that nobody took. An answer to one is still
        taken, marked `late`.

        Parameters
        ----------
        annotator : str, default="me"
            Who stops.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask(annotator="Ada")
        >>> session.leave(annotator="Ada")
        >>> session.ask(annotator="Bo") == [question]
        True
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

        Its question is open again, and one's own; unless somebody else had answered it later, whose
        answer counts then. Answering again takes the old place in either case. A group that was
        added for the answer (`answer_with_new_group`) goes with it, if nothing else is in it.

        Parameters
        ----------
        question_id : int or None, default=None
            The question whose answer is taken back; None for the last one given.
        annotator : str, default="me"
            Whose answer.
        key : str or None, default=None
            As in `tell`: the same key again undoes nothing more.
        event : int or None, default=None
            The `event` of the receipt that is meant; refused where it no longer stands.

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
        undone = self._assignment.undo(question_id, annotator, key, event)
        if undone.question is None:  # a group, with which the answers go back that were split off
            self._put_back()
        return undone

    def status(self, *, annotator: str | None = None, estimate: bool = False) -> Status:
        """Where the session stands.

        Parameters
        ----------
        annotator : str or None, default=None
            For whom `state` is told; None for anybody.
        estimate : bool, default=False
            Compute a result, for how many items are probably wrong, and for contradictions.

        Returns
        -------
        Status
            The state, counts, and what is left.

        Examples
        --------
        >>> status = open("fruit.db").status()
        >>> status.state, status.answered, status.left.low
        (<SessionState.ASKING: 'asking'>, 0, 4)
        """
        if annotator is not None:
            annotator = check_annotator(annotator)
        self._runtime.catch_up()
        state = self._assignment.state_for(annotator)
        now, leases = self._runtime.leases()
        report = self._results.status(state, self._assignment.in_force(leases, now), now)
        if not estimate:
            return report
        result = self.result()
        conflicts = find_conflicts(
            self.history(), self.question, len(result.cluster_names), levels=self.config.levels,
            noise=result.clustering.diagnostics.noise,
        )  # fmt: skip
        return replace(self._results.with_error(report, result), contradictions=conflicts)

    def result(self) -> SessionResult:
        """The best clustering from the answers so far, and what is missing.

        Returns
        -------
        SessionResult
            Centres, memberships of all rows, and an account.

        Examples
        --------
        >>> result = open("fruit.db").result()
        >>> result.complete, result.memberships.shape, result.missing.high
        (False, (4, 2), 5)
        """
        self._runtime.catch_up()
        return self._results.result(self._assignment.state_for(None))

    def error_curve(self) -> tuple[ErrorEstimate, ...]:
        """What the answers told of the result's error as they came.

        Returns
        -------
        tuple of askmeans.results.ErrorEstimate
            At the counts of answers at which models were learnt, and now; empty before the first
            answer.

        Examples
        --------
        >>> session = open("pets.db")
        >>> for group in (0, 1):
        ...     receipt = session.tell(session.ask()[0].id, group)
        >>> [estimate.answers for estimate in session.error_curve()]
        [2]
        """
        return self._runtime.error_curve()

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

        Examples
        --------
        >>> open("fruit.db").item(0).text
        'apple'
        """
        return self.rows.item(row)

    def question(self, question_id: int) -> Question:
        """A question by its number.

        Parameters
        ----------
        question_id : int
            Its number.

        Returns
        -------
        Question
            The question, open or not.

        Raises
        ------
        QueryError
            If there is none.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> session.ask() == [session.question(1)]
        True
        """
        return self._assignment.question(question_id)

    def exemplars(
        self, group: int, n: int = 3, *, without: Collection[int] = (), placed_only: bool = False
    ) -> list[int]:
        """Items that tell what a group is: placed in it by answers, or near its centre.

        Parameters
        ----------
        group : int
            The group's number.
        n : int, default=3
            How many at most.
        without : collection of int, default=()
            Row numbers that are left out: those of the items they are shown beside.
        placed_only : bool, default=False
            Only items that were pinned, or that answers place in the group.

        Returns
        -------
        list of int
            Row numbers, the most typical first.

        Raises
        ------
        ParameterError
            If there is no such group.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask()
        >>> receipt = session.tell(question.id, 1.0)
        >>> session.exemplars(question.cluster, n=1) == list(question.items)
        True
        """
        check_number(group, "group", "Session.exemplars", integer=True, minimum=0)
        check_number(n, "n", "Session.exemplars", integer=True, minimum=1)
        with self._runtime.lock:
            groups = self._runtime.groups
            number = groups.resolve(int(group))
            if number is None:
                raise ParameterError(
                    "The 'group' parameter of Session.exemplars must be below "
                    f"{groups.n}. Got {group} instead."
                )
            return self._results.exemplars(number, int(n), set(without), placed_only=placed_only)

    def history(self, *, annotator: str | None = None) -> list[Receipt]:
        """Answers and skips that stand, in the order given.

        Parameters
        ----------
        annotator : str or None, default=None
            Whose; None for all.

        Returns
        -------
        list of Receipt
            One each.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.tell(session.ask()[0].id, 0.5)
        >>> [receipt.value for receipt in session.history()]
        [0.5]
        """
        if annotator is not None:
            annotator = check_annotator(annotator)
        with self._runtime.up_to_date() as state:
            return [self._assignment.receipt(event) for event in state.given_by(annotator)]

    def asked_of(self, annotator: str) -> set[int]:
        """Questions that somebody was asked: that they hold or held, answered or skipped.

        Parameters
        ----------
        annotator : str
            Who.

        Returns
        -------
        set of int
            The questions' numbers.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask(annotator="Ada")
        >>> session.asked_of("Ada") == {question.id}, session.asked_of("Bo")
        (True, set())
        """
        with self._runtime.up_to_date() as state:
            held = {e.question for e in self._runtime.leases()[1] if e.annotator == annotator}
            given = state.given_by(check_annotator(annotator))
            return held | {event.asked for event in given}

    def said_about(self, items: tuple[int, ...], *, annotator: str = ME) -> list[Receipt]:
        """What somebody answered to the questions about just these items, and what they skipped.

        Parameters
        ----------
        items : tuple of int
            Row numbers, as a question has them.
        annotator : str, default="me"
            Whose.

        Returns
        -------
        list of Receipt
            Those that stand, in the order of the questions' numbers.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask()
        >>> receipt = session.tell(question.id, 0.5)
        >>> [receipt.value for receipt in session.said_about(question.items)]
        [0.5]
        """
        annotator = check_annotator(annotator)
        with self._runtime.up_to_date() as state:
            numbers = self._runtime.about(tuple(items))
            mine = [state.mine(number, annotator) for number in numbers]
            return [self._assignment.receipt(event) for event in mine if event is not None]

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
