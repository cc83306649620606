"""Advisers: language models and other classifiers, weighted by people's answers.

An adviser's answers are in the log, but count neither as questions nor as people's answers. The
policy weights them by their agreement with people's (`askmeans.policy.advisers`). A share of
people's questions is about random items, which show without bias how often an adviser is wrong.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_name
from askmeans.exceptions import AnswerError, ParameterError, SessionError
from askmeans.policy.advisers import Adviser, audit_order
from askmeans.policy.belief import Belief
from askmeans.queries import MODEL
from askmeans.queries.values import Row
from askmeans.sessions.assignment import Assignment
from askmeans.sessions.events import Advice
from askmeans.sessions.group_names import GroupNames
from askmeans.sessions.learning import AUDIT_SHARE, Learning
from askmeans.sessions.moves import Moves
from askmeans.sessions.results import Results
from askmeans.sessions.runtime import Runtime

_IN_AN_EVENT = 50  # items of an event
_LISTED = 10  # maximum number of listed items to check, and of confusions
_REST = 0.05  # share of a row without answer, up to which it counts as complete
_SURE = 1.96  # standard deviations of a 95 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A mistake of an adviser.

    Parameters
    ----------
    group : str
        The group in which people put the items.
    adviser_group : str
        The group in which the adviser puts them; "none" for none.
    items : int
        Number of items.
    """

    group: str
    adviser_group: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviserScore:
    """The reliability of an adviser.

    Parameters
    ----------
    answers : int
        Number of its answers.
    unsure : int
        Number of items for which it answered "cannot say".
    together : int
        Number of items with its answer and people's.
    agreement : float or None
        Share of these with the same strongest group.
    weight : float
        The share of people's answers that its answers explain: 1 for all, 0 for chance.
    decides : float
        Share of all items that would be in another group without this adviser.
    audited : int
        Number of random items with its answer and people's.
    audit_error : float or None
        Mean difference from people on these, from 0 to 1: an unbiased estimate of its error on
        all items that it answered.
    audit_band : (float, float) or None
        The 95 % interval of that error.
    confusions : tuple of Confusion
        Its mistakes, the most frequent first.
    """

    answers: int
    unsure: int
    together: int
    agreement: float | None
    weight: float
    decides: float
    audited: int
    audit_error: float | None
    audit_band: tuple[float, float] | None
    confusions: tuple[Confusion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviserReport:
    """The dependence of a result on people and on each adviser.

    Parameters
    ----------
    items : int
        Number of items.
    people : int
        Number of items that people answered.
    advisers : dict of str to AdviserScore
        Scores by name.
    decided_by_advisers : float
        Share of all items that would be in another group without any adviser.
    would_change : float or None
        Expected number of items that people would put into another group; None before a person
        has answered.
    to_check : tuple of int
        The most uncertain rows without people's answers.
    audit_share : float
        Share of people's questions that are about random items.
    notes : tuple of str
        Remarks, such as about an adviser near chance.
    """

    items: int
    people: int
    advisers: dict[str, AdviserScore]
    decided_by_advisers: float
    would_change: float | None
    to_check: tuple[int, ...]
    audit_share: float
    notes: tuple[str, ...]


def _score_of(
    model: Adviser | None,
    answers: Mapping[int, Row | None],
    belief: Belief,
    order: list[int],
    names: list[str],
    decides: float,
) -> AdviserScore:
    """The score of an adviser; `model` is None if it answered "cannot say" only."""
    silent = sum(shares is None for shares in answers.values())
    if model is None:
        return AdviserScore(
            answers=0, unsure=silent, together=0, agreement=None, weight=0.0, decides=0.0,
            audited=0, audit_error=None, audit_band=None, confusions=(),
        )  # fmt: skip
    people = _known_rows(belief)
    answered = set(model.advice.items.tolist())
    audit = audited(belief, (row for row in order if row in answered))
    errors = [_difference(model, people[row], row) for row in audit]
    mean = sum(errors) / len(errors) if errors else None
    return AdviserScore(
        answers=len(model.advice.items),
        unsure=silent,
        together=model.n_together,
        agreement=model.agreement,
        weight=model.weight,
        decides=decides,
        audited=len(errors),
        audit_error=mean,
        audit_band=None if mean is None else _band(mean, len(errors)),
        confusions=_confusions(model, people, [*names, "none"]),
    )


def _known_rows(belief: Belief) -> dict[int, Floats]:
    """People's answers by item, for (almost) complete rows; "none of these" last."""
    is_complete = belief.evidence.is_known & (belief.evidence.left <= _REST)
    shares = np.nan_to_num(belief.evidence.values[:, : belief.n_clusters], nan=0.0)
    rest = np.clip(1.0 - shares.sum(axis=1, keepdims=True), 0.0, 1.0)
    rows = np.hstack([shares, rest])[is_complete]
    return dict(zip(belief.evidence.items[is_complete].tolist(), rows, strict=True))


def audited(belief: Belief, order: Iterable[int]) -> list[int]:
    """Random items with people's answers: a prefix of a random order, up to one without.

    Such a prefix is a random sample, for whatever reason its items were asked about. Items with
    "cannot say" are skipped, since they do not show whether an adviser is right.
    """
    known = _known_rows(belief)
    silent = set(belief.evidence.items[~belief.evidence.is_known].tolist())
    reached = takewhile(lambda row: row in known or row in silent, order)
    return [row for row in reached if row in known]


def _difference(model: Adviser, people: Floats, row: int) -> float:
    """The difference of a model from people on an item."""
    _, shares = model.advice.of(np.array([row], dtype=np.intp))
    return 0.5 * float(np.abs(shares[0] - people).sum())


def _confusions(
    model: Adviser, people: Mapping[int, Floats], names: list[str]
) -> tuple[Confusion, ...]:
    """The most frequent mistakes of a model."""
    items = np.array(sorted(people), dtype=np.intp)
    known, shares = model.advice.of(items)
    pairs = Counter(
        (int(people[int(row)].argmax()), int(row_shares.argmax()))
        for row, row_shares in zip(items[known], shares, strict=True)
    )
    wrong = [(count, pair) for pair, count in pairs.items() if pair[0] != pair[1]]
    wrong.sort(key=lambda each: (-each[0], each[1]))
    return tuple(
        Confusion(group=names[by_people], adviser_group=names[by_adviser], items=count)
        for count, (by_people, by_adviser) in wrong[:_LISTED]
    )


def _band(mean: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    square = _SURE**2
    middle = (mean + square / (2 * n)) / (1 + square / n)
    half = _SURE / (1 + square / n) * math.sqrt(mean * (1 - mean) / n + square / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _moved(U: Floats, without: Floats) -> float:
    """Share of items whose strongest group differs."""
    return float((U.argmax(axis=1) != without.argmax(axis=1)).mean())


def _most_uncertain(belief: Belief) -> tuple[int, ...]:
    """The most uncertain rows of the pool without people's answers."""
    if belief.stack is None:
        return ()
    order = np.argsort(-belief.stack.uncertainty, kind="stable")
    answered = set(belief.places.tolist())
    rows = [int(belief.pool.rows[place]) for place in order if place not in answered]
    return tuple(rows[:_LISTED])


class Advisers:
    """Answers of language models and other classifiers; `Session.advisers`.

    Parameters
    ----------
    runtime, learning, moves, assignment, names, results : internal
        The parts of the session that it works on.

    Examples
    --------
    >>> session = open("pets.db")
    >>> session.advisers.add("small", {0: "cats", 1: "cats", 2: None, 3: {"dogs": 0.9}})
    4
    >>> session.status().answered
    0
    """

    def __init__(
        self,
        runtime: Runtime,
        learning: Learning,
        moves: Moves,
        assignment: Assignment,
        names: GroupNames,
        results: Results,
    ) -> None:
        self._runtime = runtime
        self._learning = learning
        self._moves = moves
        self._assignment = assignment
        self._names = names
        self._results = results

    def add(self, name: str, answers: Mapping[int, Any]) -> int:
        """Add the answers of an adviser: they cost no budget, and people are asked as before.

        Parameters
        ----------
        name : str
            The adviser's name.
        answers : mapping of int to object
            A value of `Session.tell` for a group question by row; None for "cannot say". An earlier
            answer of this adviser about a row is replaced.

        Returns
        -------
        int
            Number of answers.
        """
        owner = "Advisers.add"
        adviser = check_name(MODEL + check_name(name, "name", owner), "name", owner)
        self._check_asks_groups(owner)
        with self._runtime.up_to_date():
            groups, names = self._runtime.groups, self._names.present()
        n_rows = len(self._runtime.rows)
        rows: list[tuple[int, Row | None]] = []
        for row, value in answers.items():
            if not 0 <= row < n_rows:
                raise ParameterError(
                    f"The 'answers' parameter of {owner} must be about rows below {n_rows}. "
                    f"Got {row!r:.40} instead."
                )
            shares = None if value is None else groups.row_from(value, names)
            if shares is not None and any(map(math.isnan, shares)):
                raise AnswerError(f"A row must be whole, or None. Got {value!r:.60} instead.")
            rows.append((int(row), None if shares is None else groups.row_by_number(shares)))
        parts = [rows[start : start + _IN_AN_EVENT] for start in range(0, len(rows), _IN_AN_EVENT)]
        if parts:
            self._moves.append(
                lambda _: [Advice(annotator=adviser, rows=tuple(part)) for part in parts]
            )
        return len(rows)

    def answers(self) -> dict[str, dict[int, Row | None]]:
        """Answers of advisers, in terms of the present groups.

        Returns
        -------
        dict of str to dict of int to tuple of float or None
            By adviser and row: a share for each group; None for "cannot say".
        """
        with self._runtime.up_to_date() as state:
            groups = self._runtime.groups
            return {
                name.removeprefix(MODEL): {
                    row: None if shares is None else groups.row_now(shares)
                    for row, shares in rows.items()
                }
                for name, rows in state.advice.items()
            }

    def report(self) -> AdviserReport:
        """The reliability of advisers, and the dependence of the result on them.

        Returns
        -------
        AdviserReport
            Scores of the advisers, and the items to check.
        """
        policy = self._learning.catch_up()
        with self._runtime.lock:
            answers = dict(self._runtime.state.advice)
            share = float(self._runtime.state.options.get(AUDIT_SHARE, 0.0))
        n, result = len(self._runtime.rows), self._results.result(self._assignment.state_for(None))
        result = result.at_level(1)  # advice is weighed there
        if not answers:
            return AdviserReport(
                items=n, people=result.n_queries, advisers={}, decided_by_advisers=0.0,
                would_change=result.expected_wrong,
                to_check=(), audit_share=share, notes=(),
            )  # fmt: skip
        belief = policy.belief()
        U, names = result.memberships, list(result.group_names)
        order = audit_order(n, policy.settings.seed)
        weighed = {model.advice.name: model for model in belief.advisers.members}
        scores = {
            name.removeprefix(MODEL): _score_of(
                weighed.get(name), answers[name], belief, order, names,
                _moved(U, policy.memberships_without({name})),
            )
            for name in answers
        }  # fmt: skip
        return AdviserReport(
            items=n,
            people=belief.n_answered,
            advisers=scores,
            decided_by_advisers=_moved(U, policy.memberships_without(set(answers))),
            would_change=result.expected_wrong,
            to_check=_most_uncertain(belief),
            audit_share=share,
            notes=tuple(belief.advisers.notes()),
        )

    def audit_order(self) -> list[int]:
        """All rows in the random order of the audit.

        An adviser that answers some items only should answer the first ones: those are audited.

        Returns
        -------
        list of int
            Row numbers; answers and added items do not change their order.
        """
        self._check_asks_groups("Advisers.audit_order")
        return audit_order(len(self._runtime.rows), self._learning.policy.settings.seed)

    def _check_asks_groups(self, owner: str) -> None:
        """Refuse advisers in sessions that compare items."""
        if self._runtime.config.ask not in ("group", "membership"):
            raise SessionError(
                f"{owner} needs a session that asks for groups or memberships. "
                f"Got ask={self._runtime.config.ask!r}; for others askmeans.llm.ModelOracle "
                "answers a fit."
            )
