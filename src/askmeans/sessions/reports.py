"""Records that a session returns: questions, receipts, its status and its result so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from askmeans._util.text import html_table
from askmeans.results import Result, expected_wrong_text, rounded, sizes_of, wrong_of
from askmeans.sessions.events import Event
from askmeans.sessions.log import GOLD, IMPORTED

if TYPE_CHECKING:
    from askmeans.sessions.conflicts import Conflict

__all__ = ["Basis", "Estimate", "Group", "Holding", "ImportReport", "Question",
           "SessionResult", "SessionState", "Status", "Undone"]  # fmt: skip


NO_ANSWERS = "no answers yet"  # the basis of no estimate
_NAMED = 5  # questions of one person that are listed by number
Basis = Literal["answers", "names", "data", "nothing"]
_WITHOUT_ANSWERS: dict[Basis, str] = {
    "answers": "",
    "names": "",
    "data": "No answers yet: the groups are those of an unsupervised fit.",
    "nothing": "No answers yet: the groups have only names, so every item belongs to each of them "
    "alike.",
}


class SessionState(StrEnum):
    """What a session is doing, for all or for one annotator."""

    ASKING = "asking"  # there is a question to answer
    WAITING = "waiting for others"  # the open questions are leased to others
    PAUSED = "paused"
    SPENT = "budget spent"
    DONE = "all done"  # everything was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question for an annotator.

    Parameters
    ----------
    id : int
        Its number in the session; the same question has the same number for ever.
    kind : str
        "membership", "group", "pair", "triplet" or "relative".
    items : tuple of int
        Row numbers of the items; `Session.item` shows them.
    cluster : int or None
        The cluster, for a membership; `Session.groups` has its name.
    repeat : int
        Which asking of the same question it is, from 0.
    """

    id: int
    kind: str
    items: tuple[int, ...]
    cluster: int | None
    repeat: int = 0

    def _repr_html_(self) -> str:
        """What a notebook shows."""
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
        What it is called now.
    description : str, default=""
        A line on what belongs there, as an owner wrote or accepted it.
    """

    number: int
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of imported answers.

    Parameters
    ----------
    new : int
        How many were imported.
    existing : int
        How many the session had already.
    conflicting : int
        How many had another answer in the session, which stands.
    """

    new: int
    existing: int
    conflicting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """An open question that is leased to an annotator, so that others do not get it.

    Parameters
    ----------
    question : int
        The question's number.
    annotator : str
        Who has it.
    seconds : float
        How long at most, unless they ask for it again or their page stays open.
    """

    question: int
    annotator: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undo took back.

    Parameters
    ----------
    receipt : Event
        The undo itself.
    question : Question or None
        The question; None where it was about a group.
    kind : str
        What was taken back: "answer", "unsure" or "skip"; "group" for one added, "merge" for two
        that were merged, "remove" for one removed.
    value : float, tuple of float or None
        The answer taken back; None for an unsure or a skip.
    reopened : bool
        Whether the question is open again; if not, an answer that had come later moved up.
    value_now : float, tuple of float or None
        The answer that counts now; None where there is none, or "cannot say".
    group : str or None
        The name of the group that was added for the answer and went with it.
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
    """Questions and minutes left, as a range with its basis.

    Parameters
    ----------
    low : int
        Questions left at least, about; each as often as it is still to be answered.
    high : int
        Questions left at most, about.
    seconds_per_question : float
        How long an answer takes.
    basis : str
        Where the numbers come from.
    """

    low: int
    high: int
    seconds_per_question: float
    basis: str

    @property
    def minutes(self) -> tuple[float, float]:
        """Minutes left, at least and at most."""
        return (
            self.low * self.seconds_per_question / 60.0,
            self.high * self.seconds_per_question / 60.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where a session stands.

    Parameters
    ----------
    name : str
        The session.
    state : SessionState
        What it is doing; for the annotator asked about, or for anybody.
    answered : int
        Different questions that have an answer which was given here; "cannot say" counts.
    held : int
        Different questions with imported answers only.
    budget : int or None
        Most questions that may be answered.
    open : int
        Questions that were handed out and want an answer.
    leased : int
        Open questions that are leased now.
    round : int
        How often the ranking of questions was made, from 1.
    settled : bool
        Whether the strategy would stop: the result is good enough, or as many items were asked
        about as it wanted. It is advice: questions come until the budget or the items end.
    left : Estimate
        What is left, about.
    annotators : dict of str to dict of str to int
        Counts by annotator: "answer", "unsure", "skip", "held", "late".
    estimated_error : float or None
        Mean error of a membership to expect; None before there are answers to base it on.
    error_basis : str
        Where that comes from.
    n_items : int
        How many items there are.
    contradictions : tuple of Conflict or None
        Answers that cannot all be true, the worst first; None where they were not looked for.
    notes : tuple of str
        Warnings of the policy.
    holding : tuple of Holding
        Who holds which of them, and how long.
    suggested_clusters : int or None
        How many groups the answers speak of.
    suggestion : str or None
        Why there may be more groups than there are, in a sentence; None where there are enough.
    checked : int
        How many gold questions people answered, each person for themselves; not in `answered`.
    expected_wrong : float or None
        How many of them are probably in the wrong group; None where there is no estimate.
    expected_wrong_band : (int, int) or None
        The 80 % interval of their number.
    good_enough : bool
        Whether there are fewer wrong items than the session's target, if a result was
        computed; where soft answers come without a target, whether memberships are precise.
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
        """How many items are probably in the wrong group, in a sentence; or why none can say."""
        if self.expected_wrong is not None:
            return expected_wrong_text(self.expected_wrong, self.n_items, self.expected_wrong_band)
        if self.error_basis == NO_ANSWERS:
            return "No answers yet, so nothing is known of wrong items."
        return f"No estimate of wrong items: {self.error_basis}."

    @property
    def people(self) -> dict[str, dict[str, int]]:
        """Counts by annotator, of people only: neither imported nor known answers."""
        return {name: n for name, n in self.annotators.items() if name not in (IMPORTED, GOLD)}

    def without_gold(self) -> "Status":
        """The status for those whom gold questions test: these look like any others.

        Returns
        -------
        Status
            Without counts of known answers; gold questions count as others do.

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
        """Who has which questions and how long, in words: one for each person."""
        holders = []
        for name in dict.fromkeys(each.annotator for each in self.holding):
            theirs = [each for each in self.holding if each.annotator == name]
            numbers = [str(each.question) for each in theirs[:_NAMED]]
            what = f"question{'s' if len(theirs) > 1 else ''} {', '.join(numbers)}"
            if len(theirs) > _NAMED:
                what += f" and {len(theirs) - _NAMED} more"
            seconds = math.ceil(max(each.seconds for each in theirs))
            time = f"{seconds} s" if seconds < 100 else f"{math.ceil(seconds / 60)} min"
            holders.append(f"{name} has {what}, for up to {time} more")
        return tuple(holders)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SessionResult(Result):
    """The best clustering from the answers so far, and what is missing.

    Parameters
    ----------
    clustering, n_queries, n_queries_raw, n_rounds, history : as in `results.Result`
        Centres and memberships of all rows, their cost, and the answers.
    state : SessionState
        What the session is doing.
    missing : Estimate
        What is left to ask, about.
    group_names : tuple of str
        What the groups are called, in the order of the columns.
    ids : sequence of str
        What the items are called.
    notes : tuple of str
        Warnings that the result comes with.
    basis : {"answers", "names", "data", "nothing"}
        What the memberships follow from: answers; the names and descriptions of groups alone; the
        data alone, an unsupervised fit whose groups have no names; or nothing yet. Where names say
        nothing, groups have no members before an answer places an item: every item belongs to
        each of the k groups with 1/k.
    """

    state: SessionState
    missing: Estimate
    group_names: tuple[str, ...]
    ids: Sequence[str]
    notes: tuple[str, ...] = ()
    basis: Basis = "answers"

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
        """How many items are probably in the wrong group; None before there are answers."""
        return self.clustering.diagnostics.expected_wrong

    @property
    def expected_wrong_band(self) -> tuple[int, int] | None:
        """The 80 % interval of how many items these are."""
        return self.clustering.diagnostics.expected_wrong_band

    @property
    def without_answers(self) -> str:
        """What to know of a result without answers, in a sentence; "" where there are some."""
        if self.basis == "names" and self.expected_wrong is not None:
            n_items = len(self.memberships)
            right = rounded(n_items - self.expected_wrong)
            return f"From the names alone: about {right} of {n_items} are probably right."
        return _WITHOUT_ANSWERS[self.basis]

    def __repr__(self) -> str:
        n_items, n_clusters = self.memberships.shape
        return (
            f"SessionResult({n_items} items, {n_clusters} clusters, {self.n_queries} questions in "
            f"{self.n_rounds} rounds, {self.state})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: what was asked, how sure it is, the size of every group."""
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
