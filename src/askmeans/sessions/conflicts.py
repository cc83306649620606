"""Contradictory answers of a session, and their description.

`askmeans.contradictions.find_contradictions` finds them. Annotators round to the points of a scale,
so differences that rounding explains are ignored.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from askmeans._util.message import Message, joined, listed
from askmeans.contradictions import find_contradictions
from askmeans.queries import Answer
from askmeans.queries.values import rounding_noise, row_text
from askmeans.sessions.events import Reply, Value
from askmeans.sessions.reports import Question
from askmeans.sessions.runtime import Runtime

_DEFAULT_LEVELS = 5  # points of the scale that annotators round to, without `levels`

ItemLabel = Callable[[int], str]  # of a row number
FormatValue = Callable[[float], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Answers that contradict each other."""

    kind: str  # "repeats", "row" or "triplet", as in `askmeans.contradictions.Contradiction`
    questions: tuple[Question, ...]  # one for each answer
    answers: tuple[Reply, ...]
    excess: float  # size of the contradiction beyond what noise and rounding explain

    @property
    def items(self) -> tuple[int, ...]:
        """Row numbers of the items they are about, each once."""
        return tuple(dict.fromkeys(row for question in self.questions for row in question.items))


def find_conflicts(
    replies: Sequence[Reply],
    question_of: Callable[[int], Question],
    n_clusters: int,
    *,
    levels: int | None,
    noise: float | None,
) -> tuple[Conflict, ...]:
    """Contradictory answers, the largest excess first; `noise` is a fit's estimate, or None."""
    answers = [reply for reply in replies if reply.value is not None]
    questions = [question_of(answer.question) for answer in answers]
    history = [_as_answer(*pair) for pair in zip(questions, answers, strict=True)]
    if noise is None:
        noise = rounding_noise(levels or _DEFAULT_LEVELS)
    return tuple(
        Conflict(
            kind=contradiction.kind,
            questions=tuple(questions[place] for place in contradiction.answers),
            answers=tuple(answers[place] for place in contradiction.answers),
            excess=contradiction.excess,
        )
        for contradiction in find_contradictions(history, n_clusters, noise=noise)
    )


def comparable_answers(runtime: Runtime) -> list[Reply]:
    """Answers that can be compared; those about sub-groups count for their groups at the top."""
    with runtime.up_to_date() as state:
        answers, groups = list(map(state.as_of_now, state.replies())), runtime.groups
    if not groups.parents:
        return answers
    return [
        replace(answer, value=groups.row_at_top(answer.value))
        if isinstance(answer.value, tuple)
        else answer
        for answer in answers
        if runtime.question(answer.question).cluster is None
    ]


def describe(
    conflict: Conflict,
    label: ItemLabel,
    cluster_names: Sequence[str],
    format_value: FormatValue = "{:g}".format,
) -> str:
    """Describe a conflict in a sentence."""
    if conflict.kind == "row":
        return _describe_row(conflict, label, cluster_names, format_value)
    if conflict.kind == "triplet":
        return _describe_triplet(conflict, label, format_value)
    question = conflict.questions[0]
    names = listed([label(row) for row in question.items])
    if question.cluster is not None:
        group = cluster_names[question.cluster]
        names = Message("{items} in {group}", items=names, group=group)
    values = joined(
        [
            Message(
                "{person} “{answer}”",
                person=answer.annotator,
                answer=_answer_text(answer.value, cluster_names, format_value),
            )
            for answer in conflict.answers
        ]
    )
    if len({answer.annotator for answer in conflict.answers}) > 1:
        return Message("{items}: people disagree ({answers}).", items=names, answers=values)
    return Message("{items}: answered in two ways ({answers}).", items=names, answers=values)


def _answer_text(value: Value | None, names: Sequence[str], format_value: FormatValue) -> str:
    """Format an answer, with the names of groups."""
    if isinstance(value, tuple):
        return row_text(value, names)
    return Message("cannot say") if value is None else format_value(value)


def _describe_row(
    conflict: Conflict, label: ItemLabel, cluster_names: Sequence[str], format_value: FormatValue
) -> str:
    """Describe memberships of one item that do not sum to one."""
    by_cluster: dict[int, list[float]] = defaultdict(list)
    for question, answer in zip(conflict.questions, conflict.answers, strict=True):
        assert question.cluster is not None
        assert isinstance(answer.value, float)
        by_cluster[question.cluster].append(answer.value)
    parts = joined(
        [
            Message(
                "{share} in {group}",
                share=joined([format_value(value) for value in dict.fromkeys(values)]),
                group=cluster_names[cluster],
            )
            for cluster, values in sorted(by_cluster.items())
        ]
    )
    total = sum(sum(values) / len(values) for values in by_cluster.values())
    name = label(conflict.questions[0].items[0])
    if total > 1.0:
        return Message("{item}: {shares} is more than the whole.", item=name, shares=parts)
    return Message("{item}: {shares} is less than the whole.", item=name, shares=parts)


def _describe_triplet(conflict: Conflict, label: ItemLabel, format_value: FormatValue) -> str:
    """Describe three items that are rated more alike than two of them."""
    by_items: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for question, answer in zip(conflict.questions, conflict.answers, strict=True):
        assert isinstance(answer.value, float)
        by_items[question.items].append(format_value(answer.value))
    three, two = sorted(by_items, key=len, reverse=True)[:2]
    return Message(
        "{three} are rated more alike ({value}) than {two} alone ({other}).",
        three=listed([label(row) for row in three]),
        value=joined(list(dict.fromkeys(by_items[three]))),
        two=listed([label(row) for row in two]),
        other=joined(list(dict.fromkeys(by_items[two]))),
    )


def _as_answer(question: Question, answer: Reply) -> Answer:
    """Convert an answer to a record of a history."""
    assert answer.value is not None
    return Answer(
        round=0, kind=question.kind, items=question.items, cluster=question.cluster,
        repeat=question.repeat, value=answer.value,
    )  # fmt: skip
