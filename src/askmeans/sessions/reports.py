"""Records that a session returns: questions, its status and its result so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans._util.message import Message, joined, plural_message
from askmeans._util.text import html_table
from askmeans.results import (
    Clustering,
    Result,
    expected_wrong_text,
    rounded,
    sizes_of,
    wrong_of,
)
from askmeans.sessions.authors import GOLD, IMPORTED
from askmeans.sessions.events import Event

if TYPE_CHECKING:
    from askmeans.sessions.conflicts import Conflict

NO_ANSWERS = Message("no answers yet")  # why there is no estimate
PATH_SEPARATOR = " / "
_NAMED = 5  # maximum number of questions listed for an annotator
Basis = Literal["answers", "names", "data", "nothing"]
_WITHOUT_ANSWERS: dict[Basis, str] = {
    "answers": "",
    "names": "",
    "data": Message("No answers yet: the groups are those of an unsupervised fit."),
    "nothing": Message(
        "No answers yet: the groups have only names, so every item belongs to each of them alike."
    ),
}


class SessionState(StrEnum):
    """The state of a session, for all or for one annotator."""

    ASKING = "asking"  # there is a question to answer
    WAITING = "waiting for others"  # the open questions are leased to others
    PAUSED = "paused"
    SPENT = "budget spent"
    DONE = "all done"  # all questions were asked

    @property
    def described(self) -> Message:
        """The state as people read it."""
        return _STATES[self]


_STATES = {
    SessionState.ASKING: Message("in progress"),
    SessionState.WAITING: Message("waiting for others"),
    SessionState.PAUSED: Message("paused"),
    SessionState.SPENT: Message("budget spent"),
    SessionState.DONE: Message("all done"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question for an annotator.

    Parameters
    ----------
    id : int
        Its number in the session, which never changes.
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items; `Session.item` shows them.
    cluster : int or None
        The cluster, for a membership; for a group question the group whose sub-groups are asked
        for. `Session.groups` has its name.
    repeat : int
        Number of the repetition, from 0.
    """

    id: int
    kind: str
    items: tuple[int, ...]
    cluster: int | None
    repeat: int = 0

    def _repr_html_(self) -> str:
        """Show the question in a notebook."""
        facts: list[tuple[str, object]] = [
            ("kind", self.kind),
            ("rows", ", ".join(map(str, self.items))),
            ("group", self.cluster),
        ]
        return html_table(f"Question {self.id}", facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of a session.

    Parameters
    ----------
    number : int
        Its number, which never changes.
    name : str
        Its present name.
    description : str, default=""
        What belongs there, in a line.
    parent : int or None, default=None
        The number of the group that it is a sub-group of; None for one at the top.
    children : tuple of int, default=()
        The numbers of its sub-groups.
    path : str, default=""
        Its name after those of all that it is a sub-group of: "returns / broken".
    level : int, default=1
        How deep it is in the tree: 1 for a group at the top.
    """

    number: int
    name: str
    description: str = ""
    parent: int | None = None
    children: tuple[int, ...] = ()
    path: str = ""
    level: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The outcome of an import.

    Parameters
    ----------
    new : int
        Number of imported answers.
    existing : int
        Number of answers that the session had already.
    conflicting : int
        Number of answers that differ from one given in the session, which stays.
    """

    new: int
    existing: int
    conflicting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """An open question that is leased to an annotator.

    Parameters
    ----------
    question : int
        The question's number.
    annotator : str
        The annotator.
    seconds : float
        Time left, unless the lease is renewed.
    """

    question: int
    annotator: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The result of an undo.

    Parameters
    ----------
    receipt : Event
        The undo itself.
    question : Question or None
        The question; None for a change of groups.
    kind : str
        The event taken back: "answer", "unsure", "skip", "group" (added), "merge" or "remove".
    value : float, tuple of float or None
        The answer taken back; None for an unsure or a skip.
    reopened : bool
        Whether the question is open again; if not, a later answer counts now.
    value_now : float, tuple of float or None
        The answer that counts now; None for none or "cannot say".
    group : str or None
        The group that was added for the answer, and is removed with it.
    """

    receipt: Event
    question: Question | None
    kind: str
    value: float | tuple[float, ...] | None
    reopened: bool = True
    value_now: float | tuple[float, ...] | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated questions and minutes left, with their basis.

    Parameters
    ----------
    low : int
        Lower limit of the answers left.
    high : int
        Upper limit of the answers left.
    seconds_per_question : float
        Time per answer.
    basis : str
        The source of the numbers.
    """

    low: int
    high: int
    seconds_per_question: float
    basis: str

    @property
    def minutes(self) -> tuple[float, float]:
        """Minutes left, lower and upper limit."""
        return (
            self.low * self.seconds_per_question / 60.0,
            self.high * self.seconds_per_question / 60.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The status of a session.

    Parameters
    ----------
    name : str
        The session's name.
    state : SessionState
        The state, for the requested annotator or for all.
    answered : int
        Number of different questions answered in the session, "cannot say" included.
    held : int
        Number of different questions with imported answers only.
    budget : int or None
        Maximum number of questions; None without a limit.
    open : int
        Number of issued questions that want an answer.
    leased : int
        Number of open questions that are leased now.
    round : int
        Number of the ranking of questions, from 1.
    settled : bool
        Whether the strategy would stop: the result is good enough, or the planned number of items
        is answered. This is advice: questions continue until the budget or the items end.
    left : Estimate
        Estimated questions left.
    annotators : dict of str to dict of str to int
        Counts by annotator: "answer", "unsure", "skip", "held", "late".
    estimated_error : float or None
        Expected mean error of a membership; None without answers.
    error_basis : str
        The source of that estimate.
    n_items : int
        Number of items.
    contradictions : tuple of Conflict or None
        Contradictory answers, the worst first; None if they were not computed.
    notes : tuple of str
        Warnings of the policy.
    holding : tuple of Holding
        The leases of open questions.
    suggested_clusters : int or None
        Number of groups that the answers suggest.
    suggestion : str or None
        Why there may be more groups, in a sentence; None if there are enough.
    checked : int
        Number of answered gold questions, by all annotators; not in `answered`.
    expected_wrong : float or None
        Expected number of items in the wrong group; None without an estimate.
    expected_wrong_band : (int, int) or None
        Its 80 % interval.
    good_enough : bool
        Whether the expected share of wrong items is below the session's target, if a result was
        computed; for soft answers without a target, whether memberships are precise.
    """

    name: str
    state: SessionState
    answered: int
    held: int
    budget: int | None
    open: int
    leased: int
    round: int
    settled: bool
    left: Estimate
    annotators: dict[str, dict[str, int]]
    estimated_error: float | None
    error_basis: str
    n_items: int
    contradictions: "tuple[Conflict, ...] | None"
    notes: tuple[str, ...]
    holding: tuple[Holding, ...] = ()
    suggested_clusters: int | None = None
    suggestion: str | None = None
    checked: int = 0
    expected_wrong: float | None = None
    expected_wrong_band: tuple[int, int] | None = None
    good_enough: bool = False

    @property
    def wrong_items(self) -> str:
        """The expected number of wrong items in a sentence, or why there is no estimate."""
        if self.expected_wrong is not None:
            return expected_wrong_text(self.expected_wrong, self.n_items, self.expected_wrong_band)
        if self.error_basis == NO_ANSWERS:
            return Message("No answers yet, so nothing is known of wrong items.")
        return Message("No estimate of wrong items: {reason}.", reason=self.error_basis)

    @property
    def people(self) -> dict[str, dict[str, int]]:
        """Counts by annotator, without imported and gold answers."""
        return {name: n for name, n in self.annotators.items() if name not in (IMPORTED, GOLD)}

    def without_gold(self) -> "Status":
        """The status for annotators, who must not recognise gold questions.

        Returns
        -------
        Status
            Without counts of gold answers; gold questions count like others.

        Examples
        --------
        >>> open("fruit.db").status().without_gold().answered
        0
        """
        answered = self.answered + self.checked
        if self.budget is not None:
            answered = min(answered, self.budget)
        return replace(self, annotators=self.people, held=0, checked=0, answered=answered)

    @property
    def holders(self) -> tuple[str, ...]:
        """The leases in words, one text for each annotator."""
        holders = []
        for name in dict.fromkeys(each.annotator for each in self.holding):
            theirs = [each for each in self.holding if each.annotator == name]
            numbers = joined([str(each.question) for each in theirs[:_NAMED]])
            if len(theirs) > _NAMED:
                numbers = plural_message(
                    "{numbers} and {n} more", "{numbers} and {n} more",
                    len(theirs) - _NAMED, numbers=numbers,
                )  # fmt: skip
            seconds = math.ceil(max(each.seconds for each in theirs))
            minutes = math.ceil(seconds / 60)
            time = Message("{n} s", n=seconds) if seconds < 100 else Message("{n} min", n=minutes)
            holders.append(
                plural_message(
                    "{name} has question {numbers}, for up to {time} more",
                    "{name} has questions {numbers}, for up to {time} more",
                    len(theirs),
                    name=name,
                    numbers=numbers,
                    time=time,
                )
            )
        return tuple(holders)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionResult(Result):
    """The best clustering from the answers so far, and the questions left.

    Parameters
    ----------
    clustering, n_queries, n_queries_raw, n_rounds, history : as in `results.Result`
        Centres and memberships of all rows, their cost, and the answers.
    state : SessionState
        The state of the session.
    missing : Estimate
        Estimated questions left.
    group_names : tuple of str
        Names of the groups, in the order of the columns.
    ids : sequence of str
        Ids of the items.
    notes : tuple of str
        Warnings about the result.
    basis : {"answers", "names", "data", "nothing"}
        The basis of the memberships: answers; the names and descriptions of the groups alone; the
        data alone, by an unsupervised fit whose groups have no names; or nothing. Groups whose
        names say nothing have no members before an answer places an item: all memberships are 1/k.
    upper : tuple of (Clustering, tuple of str)
        With sub-groups, the results at the levels above, from the top, and the names of the groups
        there.
    """

    state: SessionState
    missing: Estimate
    group_names: tuple[str, ...]
    ids: Sequence[str]
    notes: tuple[str, ...] = ()
    basis: Basis = "answers"
    upper: tuple[tuple[Clustering, tuple[str, ...]], ...] = ()

    def at_level(self, level: int) -> "SessionResult":
        """The result for the groups that deep in the tree, and those above without sub-groups.

        Memberships, confidence and the expected number of wrong items are those of this level.

        Parameters
        ----------
        level : int
            1 for the groups at the top; from the depth of the tree on it is this result.

        Returns
        -------
        SessionResult
            The result at this level.

        Examples
        --------
        >>> result = open("fruit.db").result()
        >>> result.at_level(1) is result  # no group has sub-groups
        True
        """
        check_number(level, "level", "SessionResult.at_level", integer=True, minimum=1)
        if level > len(self.upper):
            return self
        clustering, names = self.upper[level - 1]
        return replace(
            self, clustering=clustering, group_names=names, upper=self.upper[: level - 1]
        )

    @property
    def memberships(self) -> NDArray[np.float64]:
        """Memberships of all rows."""
        return self.clustering.memberships

    @property
    def confidence(self) -> NDArray[np.float64] | None:
        """The probability that each item's strongest group is right; 1 where a person decided."""
        return self.clustering.confidence

    @property
    def unassigned(self) -> NDArray[np.float64] | None:
        """The probability that each item belongs to no group."""
        return self.clustering.unassigned

    @property
    def expected_wrong(self) -> float | None:
        """The expected number of items in the wrong group; None without answers."""
        return self.clustering.diagnostics.expected_wrong

    @property
    def expected_wrong_band(self) -> tuple[int, int] | None:
        """Its 80 % interval."""
        return self.clustering.diagnostics.expected_wrong_band

    @property
    def without_answers(self) -> str:
        """A sentence about a result without answers; "" with answers."""
        if self.basis == "names" and self.expected_wrong is not None:
            n_items = len(self.memberships)
            right = rounded(n_items - self.expected_wrong)
            return plural_message(
                "From the names alone: about {n} of {n_items} is probably right.",
                "From the names alone: about {n} of {n_items} are probably right.",
                right,
                n_items=n_items,
            )
        return _WITHOUT_ANSWERS[self.basis]

    def __repr__(self) -> str:
        n_items, n_clusters = self.memberships.shape
        return (
            f"SessionResult({n_items} items, {n_clusters} clusters, {self.n_queries} questions in "
            f"{self.n_rounds} rounds, {self.state})"
        )

    def _repr_html_(self) -> str:
        """Show the questions, the expected error and the sizes of the groups in a notebook."""
        n_items = len(self.memberships)
        wrong = "no answers yet" if self.n_queries == 0 else None
        if self.expected_wrong is not None:
            wrong = wrong_of(self.expected_wrong, n_items, self.expected_wrong_band)
        facts: list[tuple[str, object]] = [
            ("state", self.state.value),
            ("items", n_items),
            ("questions", self.n_queries),
            ("probably in the wrong group", wrong),
        ]
        return html_table("Result", facts, sizes_of(self.memberships, self.group_names))
