"""Several opinions of one question: how far people agree, where they do not, and who decides.

Gold answers are an opinion that is known before: asked now and then as if it were not.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans.exceptions import SessionError
from askmeans.metrics.reliability import annotator_alphas, krippendorff_alpha
from askmeans.queries import ME
from askmeans.queries.values import difference, largest_difference
from askmeans.sessions.changes import Changes
from askmeans.sessions.groups import as_number, as_shares
from askmeans.sessions.log import ITSELF, KNOWN, EventKind, NewEvent, Value, check_annotator
from askmeans.sessions.reports import Receipt

__all__ = ["Agreement", "Disagreement", "GoldScore", "Opinions", "PairAgreement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """How far two people agree.

    Parameters
    ----------
    people : tuple of str
        Their names.
    questions : int
        How many questions both answered.
    difference : float
        How far their answers are apart on average: 0 for the same, 1 for the opposite.

    Examples
    --------
    >>> PairAgreement(people=("Ada", "Bo"), questions=3, difference=0.25).people
    ('Ada', 'Bo')
    """

    people: tuple[str, str]
    questions: int
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far the people of a session agree.

    Parameters
    ----------
    alpha : float
        Krippendorff's alpha: 1 for full agreement, 0 for what chance would bring; NaN where no
        question was answered by two, or all answers are the same.
    questions : int
        How many questions were answered by two or more.
    by_person : dict of str to float
        Alpha of the pairs of answers of which one is theirs.
    by_group : dict of str to float
        Alpha of what was said of each group.
    pairs : tuple of PairAgreement
        Who differs from whom, those who differ most first.

    Examples
    --------
    >>> open("fruit.db").agreement().questions
    0
    """

    alpha: float
    questions: int
    by_person: dict[str, float]
    by_group: dict[str, float]
    pairs: tuple[PairAgreement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A question that people answered differently.

    Parameters
    ----------
    question : int
        Its number.
    items : tuple of int
        Row numbers of its items.
    answers : dict of str to float or tuple of float
        Who said what.
    difference : float
        How far the two answers are apart that differ most, from 0 to 1.
    decided : float, tuple of float or None
        What was decided since, by `Session.adjudicate`.

    Examples
    --------
    >>> open("fruit.db").disagreements()
    []
    """

    question: int
    items: tuple[int, ...]
    answers: dict[str, Value]
    difference: float
    decided: Value | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldScore:
    """How somebody answered the gold questions.

    Parameters
    ----------
    questions : int
        How many of them they answered.
    difference : float
        How far their answers are from the known ones on average, from 0 to 1.

    Examples
    --------
    >>> GoldScore(questions=2, difference=0.5).questions
    2
    """

    questions: int
    difference: float


class Opinions(Changes):
    """The part of `Session` that is about several answers to one question."""

    def agreement(self) -> Agreement:
        """How far people agree: all, each of them, about each group, and who differs from whom.

        Answers that stand are compared, but for imported ones; "cannot say" is no opinion.

        Returns
        -------
        Agreement
            Krippendorff's alpha and the differences of pairs.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> first, second = session.ask(2, annotator="Ada")
        >>> for who in ("Ada", "Bo"):
        ...     for question, value in ((first, 1.0), (second, 0.0)):
        ...         receipt = session.tell(question.id, value, annotator=who)
        >>> agreement = session.agreement()
        >>> agreement.alpha, agreement.by_person
        (1.0, {'Ada': 1.0, 'Bo': 1.0})
        """
        said = self._opinions()
        people = sorted({name for answers in said.values() for name in answers})
        names = self._results.cluster_names()
        table = self._ratings(said, people, len(names))
        by_group, groups = {}, self._runtime.groups
        about = [self._runtime.question(number).cluster for number in said]
        for column, name in enumerate(names):
            if self.config.ask == "group":
                by_group[name] = krippendorff_alpha(table[:, :, column])
            else:
                here = [j is not None and groups.column(j) == column for j in about]
                by_group[name] = krippendorff_alpha(table[:, here, 0])
        return Agreement(
            alpha=krippendorff_alpha(table),
            questions=sum(len(answers) > 1 for answers in said.values()),
            by_person=dict(zip(people, annotator_alphas(table).tolist(), strict=True)),
            by_group=by_group,
            pairs=_pairs(said, people),
        )

    def disagreements(self, n: int = 10) -> list[Disagreement]:
        """Questions that people answered differently, those of the largest difference first.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        list of Disagreement
            Those decided already come last.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask(annotator="Ada")
        >>> for who, value in (("Ada", 1.0), ("Bo", 0.25)):
        ...     receipt = session.tell(question.id, value, annotator=who)
        >>> [(found.answers, found.difference) for found in session.disagreements()]
        [({'Ada': 1.0, 'Bo': 0.25}, 0.75)]
        """
        check_number(n, "n", "Session.disagreements", integer=True, minimum=1)
        found = []
        for number, answers in self._opinions().items():
            apart = largest_difference(answers.values())
            if apart > 0.0:
                decision = self._runtime.state.decision(number)
                found.append(
                    Disagreement(
                        question=number, items=self._runtime.question(number).items,
                        answers=answers, difference=apart,
                        decided=None if decision is None else decision.value,
                    )
                )  # fmt: skip
        order = sorted(found, key=lambda d: (d.decided is not None, -d.difference, d.question))
        return order[: int(n)]

    def adjudicate(self, question_id: int, value: Any, *, annotator: str = ME) -> Receipt:
        """Decide a question that people answered: the decision takes the place of their answers.

        Their answers stay in the log and in `agreement`, and count again when it is taken back.
        Until then it stands, also where people undo theirs.

        Parameters
        ----------
        question_id : int
            The question's number.
        value : as in `tell`, or None
            The answer that counts; None takes a decision back.
        annotator : str, default="me"
            Who decides.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        SessionError
            If nobody has answered the question, or there is no decision to take back.
        AnswerError
            If the value is no answer to it.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask(annotator="Ada")
        >>> for who, value in (("Ada", 1.0), ("Bo", 0.25)):
        ...     receipt = session.tell(question.id, value, annotator=who)
        >>> receipt = session.adjudicate(question.id, 0.9, annotator="owner")
        >>> session.disagreements()[0].decided
        0.9
        """
        who = check_annotator(annotator, person=True)
        told = None if value is None else self._as_answer(question_id, value)

        def decided() -> NewEvent:
            state = self._runtime.state
            nothing = not state.count(question_id) if told is not None else (
                state.decision(question_id) is None
            )  # fmt: skip
            if nothing:
                wanted = "an answer to decide" if told is not None else "a decision to take back"
                raise SessionError(
                    f"There must be {wanted} at question {question_id}. Got none; "
                    "`Session.disagreements` lists questions that people answered differently.",
                    user_message="The answers to this question were taken back meanwhile, so there "
                    "is nothing to decide. The results list what people disagree about now."
                    if told is not None
                    else "This decision was taken back before. The results show what stands.",
                )
            return NewEvent(
                kind=EventKind.ADJUDICATE, annotator=who, question=question_id,
                value=told,
            )  # fmt: skip

        return self._assignment.log(decided)

    def want_opinions(self, question_id: int, n: int, *, annotator: str = ME) -> Receipt:
        """Ask so many people about a question, whatever the session's `annotations` are.

        Parameters
        ----------
        question_id : int
            The question's number.
        n : int
            How many answers are wanted; fewer than `annotations` are not.
        annotator : str, default="me"
            Who wants them.

        Returns
        -------
        Receipt
            What was kept.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> question, = session.ask(annotator="Ada")
        >>> receipt = session.tell(question.id, 0.5, annotator="Ada")
        >>> receipt = session.want_opinions(question.id, 2)
        >>> session.ask(annotator="Bo") == [question]
        True
        """
        check_number(n, "n", "Session.want_opinions", integer=True, minimum=1)
        number = self._assignment.question(question_id).id
        most = min(int(n), 2**31)
        return self._log(EventKind.OPINIONS, annotator, question=number, target=most)

    def _doubt(self, receipt: Receipt) -> None:
        """Want one opinion more where models expected another answer than people gave."""
        number, value, runtime = receipt.question, receipt.value, self._runtime
        most, least = self.config.most_annotations, self.config.annotations
        if most is None or most <= least or number is None or value is None or receipt.repeated:
            return
        with runtime.lock:
            first = runtime.state.count(number) == least == runtime.state.wanted(number)
        if first and runtime.is_surprising(number, value):
            self._log(EventKind.OPINIONS, ITSELF, question=number, target=least + 1)

    def _as_answer(self, question_id: int, value: Any) -> Value:
        """An answer to a question: a number, or a row of shares by the groups' numbers."""
        kind = self._assignment.question(question_id).kind
        if kind != "group":
            return as_number(value, 3 if kind == "relative" else self.config.levels)
        with self._runtime.up_to_date():
            groups, names = self._runtime.groups, self._results.cluster_names()
        return as_shares(value, groups, names, self.config.levels)

    def _opinions(self) -> dict[int, dict[str, Value]]:
        """What people said to each question, by the groups of now, as far as they could say."""
        said: dict[int, dict[str, Value]] = {}
        with self._runtime.up_to_date() as state:
            groups = self._runtime.groups
            for event in state.given_by():
                value = event.value
                if value is None or event.kind in KNOWN:
                    continue
                if isinstance(value, tuple):
                    value = groups.row_now(value)
                    if any(map(math.isnan, value)):
                        continue  # said before a group was there
                said.setdefault(state.original(event.asked), {})[event.annotator] = value
        return said

    def _ratings(
        self, said: dict[int, dict[str, Value]], people: list[str], n_groups: int
    ) -> NDArray[np.float64]:
        """What people said as a table: by person, question and group."""
        width = n_groups if self.config.ask == "group" else 1
        table = np.full((len(people), len(said), width), np.nan)
        for column, answers in enumerate(said.values()):
            for name, value in answers.items():
                if len(_row(value)) == width:
                    table[people.index(name), column] = _row(value)
        return table

    def gold_report(self) -> dict[str, GoldScore]:
        """How everybody answered the gold questions that they got.

        Returns
        -------
        dict of str to GoldScore
            By annotator; "cannot say" is not counted.

        Examples
        --------
        >>> open("fruit.db").gold_report()
        {}
        """
        said = self._opinions()
        with self._runtime.lock:
            groups = self._runtime.groups
            known = {n: event.value for n, event in self._runtime.state.gold.items()}
        apart: dict[str, list[float]] = {}
        for number, truth in known.items():
            if isinstance(truth, tuple):
                truth = groups.row_now(truth)
            for name, value in said.get(number, {}).items():
                assert truth is not None
                apart.setdefault(name, []).append(difference(value, truth))
        return {
            name: GoldScore(questions=len(each), difference=sum(each) / len(each))
            for name, each in sorted(apart.items())
        }


def _row(value: Value) -> tuple[float, ...]:
    """An answer as a row."""
    return value if isinstance(value, tuple) else (value,)


def _pairs(said: dict[int, dict[str, Value]], people: list[str]) -> tuple[PairAgreement, ...]:
    """Everybody with everybody, as far as they answered the same questions."""
    found = []
    for pair in itertools.combinations(people, 2):
        apart = [
            difference(answers[pair[0]], answers[pair[1]])
            for answers in said.values()
            if pair[0] in answers and pair[1] in answers
        ]
        if apart:
            mean = sum(apart) / len(apart)
            found.append(PairAgreement(people=pair, questions=len(apart), difference=mean))
    return tuple(sorted(found, key=lambda pair: (-pair.difference, pair.people)))
