"""Agreement of annotators with each other and with gold answers.

Only valid answers are compared; "cannot say" is ignored.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.metrics.reliability import annotator_alphas, krippendorff_alpha
from askmeans.queries.values import difference, largest_difference
from askmeans.sessions.authors import GOLD, IMPORTED
from askmeans.sessions.events import Value
from askmeans.sessions.group_numbers import GroupNumbers
from askmeans.sessions.runtime import Runtime

Opinions = dict[int, dict[str, Value]]  # question -> annotator -> answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Agreement of two annotators.

    Parameters
    ----------
    people : tuple of str
        Their names.
    questions : int
        How many questions both answered.
    difference : float
        Mean difference of their answers: 0 for equal, 1 for opposite ones.
    """

    people: tuple[str, str]
    questions: int
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of the annotators of a session.

    Parameters
    ----------
    alpha : float
        Krippendorff's alpha: 1 for full agreement, 0 for chance; NaN if no question was answered
        by two, or all answers are the same.
    questions : int
        How many questions were answered by two or more.
    by_person : dict of str to float
        Alpha of the pairs of answers that include theirs.
    by_group : dict of str to float
        Alpha of the answers about each group.
    pairs : tuple of PairAgreement
        Every two annotators, the most different first.
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
        The answer of each annotator.
    difference : float
        The largest difference of two answers, from 0 to 1.
    decided : float, tuple of float or None
        The decision of `People.adjudicate`, if any.
    """

    question: int
    items: tuple[int, ...]
    answers: dict[str, Value]
    difference: float
    decided: Value | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldScore:
    """An annotator's answers to gold questions.

    Parameters
    ----------
    questions : int
        Number of answered gold questions.
    difference : float
        Mean difference from the known answers, from 0 to 1.
    """

    questions: int
    difference: float


def agreement_of(runtime: Runtime, names: list[str]) -> Agreement:
    """Agreement of all annotators, by annotator, by group and by pair.

    On the groups at the top; `names` are those of all groups, by number.
    """
    every = _opinions(runtime)
    people = sorted({name for answers in every.values() for name in answers})
    opinions = {number: answers for number, answers in every.items() if len(answers) > 1}
    asks_groups = runtime.config.ask == "group"
    by_group, groups = {}, runtime.groups
    top = groups.children(None)
    table = _ratings(opinions, people, top if asks_groups else None)
    clusters = [runtime.question(number).cluster for number in opinions]
    for column, group in enumerate(top):
        if asks_groups:
            by_group[names[group]] = krippendorff_alpha(table[:, :, column])
        else:
            here = [j is not None and groups.resolve(j) == group for j in clusters]
            by_group[names[group]] = krippendorff_alpha(table[:, here, 0])
    return Agreement(
        alpha=krippendorff_alpha(table),
        questions=len(opinions),
        by_person=dict(zip(people, annotator_alphas(table).tolist(), strict=True)),
        by_group=by_group,
        pairs=_pairs(opinions),
    )


def disagreements_of(runtime: Runtime, n: int) -> list[Disagreement]:
    """Questions that annotators answered differently: undecided first, then the most different."""
    listed = []
    for number, answers in _opinions(runtime).items():
        largest = largest_difference(answers.values())
        if largest > 0.0:
            decision = runtime.state.decision(number)
            listed.append(
                Disagreement(
                    question=number, items=runtime.question(number).items, answers=answers,
                    difference=largest, decided=None if decision is None else decision.value,
                )
            )  # fmt: skip
    return sorted(listed, key=lambda d: (d.decided is not None, -d.difference, d.question))[:n]


def gold_scores(runtime: Runtime) -> dict[str, GoldScore]:
    """Scores of the annotators on gold questions."""
    opinions = _opinions(runtime)
    with runtime.lock:
        groups = runtime.groups
        known = {number: event.value for number, event in runtime.state.gold.items()}
    differences: dict[str, list[float]] = {}
    for number, truth in known.items():
        if (now := _at_top(groups, truth)) is None:
            continue
        for name, value in opinions.get(number, {}).items():
            differences.setdefault(name, []).append(difference(value, now))
    return {
        name: GoldScore(questions=len(each), difference=sum(each) / len(each))
        for name, each in sorted(differences.items())
    }


def _opinions(runtime: Runtime) -> Opinions:
    """Answers by question and annotator, in terms of the present groups at the top."""
    opinions: Opinions = {}
    with runtime.up_to_date() as state:
        groups = runtime.groups
        for event in state.replies():
            value = _at_top(groups, event.value)
            if value is None or event.annotator in (IMPORTED, GOLD):
                continue
            opinions.setdefault(state.original(event.question), {})[event.annotator] = value
    return opinions


def _at_top(groups: GroupNumbers, value: Value | None) -> Value | None:
    """An answer by the numbers of the groups at the top; None if given before one existed."""
    if not isinstance(value, tuple):
        return value
    return None if any(map(math.isnan, groups.row_now(value))) else groups.row_at_top(value)


def _ratings(
    opinions: Opinions, people: list[str], groups: list[int] | None
) -> NDArray[np.float64]:
    """The opinions as a table: by person, question and group."""
    table = np.full((len(people), len(opinions), 1 if groups is None else len(groups)), np.nan)
    for column, answers in enumerate(opinions.values()):
        for name, value in answers.items():
            if isinstance(value, tuple) and groups is not None:
                table[people.index(name), column] = [value[j] for j in groups]
            elif not isinstance(value, tuple) and groups is None:
                table[people.index(name), column] = value
    return table


def _pairs(opinions: Opinions) -> tuple[PairAgreement, ...]:
    """Every two annotators who answered the same questions, the most different first."""
    differences: dict[tuple[str, str], list[float]] = {}
    for answers in opinions.values():
        for one, other in itertools.combinations(sorted(answers), 2):
            gap = difference(answers[one], answers[other])
            differences.setdefault((one, other), []).append(gap)
    pairs = [
        PairAgreement(people=people, questions=len(gaps), difference=sum(gaps) / len(gaps))
        for people, gaps in differences.items()
    ]
    return tuple(sorted(pairs, key=lambda pair: (-pair.difference, pair.people)))
