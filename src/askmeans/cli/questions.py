"""Questions, answers and groups of a session in the terminal.

Groups go by name, or by the number that the page shows, from 1. In Python and in files a group
keeps the number from 0 that it was made with; here, as on the page, the present groups are counted.
"""

import dataclasses
import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from askmeans._util.checks import parse_digits
from askmeans._util.progress import stage
from askmeans.cli.output import complain
from askmeans.exceptions import AnswerError, ParameterError, SessionError, StoreError
from askmeans.oracles.console import FIRST, Card, Terminal, answer_form, fields_text
from askmeans.queries.values import group_of, row_text
from askmeans.sessions import Group, Question, Session, Undone

_UNDONE = {  # changes of groups
    "group": "The group is removed again.",
    "merge": "The groups are separate again.",
    "remove": "The group is back.",
    "refine": "The sub-groups are gone; what was put into them is in the group.",
    "flatten": "The sub-groups are back.",
    "move": "The group is where it was before.",
}


def card_of(session: Session, question: Question, groups: Sequence[Group]) -> Card:
    """A question as the terminal shows it, with these groups to choose from (`choices`)."""
    items = []
    for row in question.items:
        item = session.item(row)
        parts = [part for part in (item.text, item.image, fields_text(item.fields.items())) if part]
        items.append(f"{item.id}: {'; '.join(parts)}")
    cluster = None
    if question.cluster is not None:
        cluster = _with_exemplars(session, question.cluster, question)
    groups = groups if question.kind == "group" else []
    return Card(
        kind=question.kind,
        items=items,
        cluster=cluster,
        groups=[group.name for group in groups],
        group_lines=[
            f"{group.name}, none of these"
            if group.number == question.cluster
            else _with_exemplars(session, group.number, question)
            for group in groups
        ],
    )


def _with_exemplars(session: Session, group: int, question: Question) -> str:
    """A group's name, and typical items of it."""
    rows = session.exemplars(group, without=question.items)
    labels = "; ".join(session.item(row).label for row in rows)
    name = session.groups.all_names[group]
    return f"{name} (items like: {labels})" if labels else name


def question_values(session: Session, question: Question) -> dict[str, Any]:
    """A question with its items, for machines."""
    name = None if question.cluster is None else session.groups.all_names[question.cluster]
    items = [dataclasses.asdict(session.item(row)) for row in question.items]
    values = {**dataclasses.asdict(question), "cluster_name": name, "shown": items}
    if question.kind == "group":
        values["groups"] = [
            {
                "number": number,
                "name": group.name,
                "exemplars": session.exemplars(group.number, without=question.items),
            }
            for number, group in enumerate(session.groups.choices(question.cluster), FIRST)
        ]
    return values


def parse_value(session: Session, question: Question, reply: str, others: str) -> Any:
    """The typed answer, NaN for "cannot say"; an AnswerError lists what else may be typed."""
    groups = []
    if question.kind == "group":  # what the card shows has its numbers there; names go everywhere
        groups = session.groups.choices(question.cluster)
        shown = {group.number for group in groups}
        groups += [group for group in session.groups if group.number not in shown]
    names = [group.name for group in groups]
    value = Card(kind=question.kind, items=(), groups=names).parse(reply)
    if value is None:
        known = f"; the groups are {listed_groups(session)}" if groups else ""
        raise AnswerError(
            f"VALUE must be {answer_form(question.kind)}, {others}. Got {reply!r:.60}{known}."
        )
    return _by_group(groups, value)


def _by_group(groups: Sequence[Group], value: Any) -> Any:
    """Convert a row of shares to shares by the groups' numbers; other answers do not change."""
    if not isinstance(value, tuple):
        return value
    if any(map(math.isnan, value)):
        return math.nan
    pairs = zip(groups, value, strict=True)
    return {group.number: share for group, share in pairs if share > 0.0}


def is_unsure(value: Any) -> bool:
    """Whether an answer is "cannot say"."""
    return isinstance(value, float) and math.isnan(value)


def answer_text(value: float | tuple[float, ...] | None, names: list[str]) -> str:
    """Format an answer, with the names of groups."""
    if isinstance(value, tuple):
        return row_text(value, names)
    return "'cannot say'" if value is None else f"{value:g}"


def kind_text(kind: str) -> str:
    """The name of a kind of event: answer, skip, merge and so on."""
    return "import" if kind == "held" else str(kind)


def undo_text(undone: Undone, names: list[str]) -> str:
    """The state of a question, or of the groups, after an undo."""
    if undone.question is None:
        return _UNDONE[undone.kind]
    if undone.group is not None:
        return f"The group {undone.group} is removed again, and its question is open."
    if undone.reopened:
        return f"Question {undone.question.id} is open again."
    return (
        f"Your {undone.kind} to question {undone.question.id} is taken back. Another annotator "
        f"answered it, too: {answer_text(undone.value_now, names)} counts now, unless you answer "
        "again."
    )


def numbered(session: Session) -> list[tuple[int, Group]]:
    """The groups with the page's numbers."""
    return list(enumerate(session.groups, FIRST))


def listed_groups(session: Session) -> str:
    """The groups, by number and name."""
    return ", ".join(f"{number} {group.name}" for number, group in numbered(session))


def group_number(session: Session, text: str) -> int:
    """The session's number of the typed group; a ParameterError lists the groups."""
    groups = list(session.groups)
    place = group_of(text.strip(), [group.name for group in groups], FIRST)
    if place is None:
        raise ParameterError(
            f"GROUP must be one of the groups, by number or name: {listed_groups(session)}. "
            f"Got {text!r:.60} instead."
        )
    return groups[place].number


def typed_number(text: str, what: str) -> int:
    """A typed whole number."""
    number = parse_digits(text.strip())
    if number is None:
        raise ParameterError(f"{what} must be a number from 0. Got {text!r:.60} instead.")
    return number


class Conversation:
    """A session's questions in the terminal, one after the other."""

    def __init__(self, session: Session, annotator: str, terminal: Terminal) -> None:
        self.session = session
        self.annotator = annotator
        self.terminal = terminal

    def run(self, *, until_settled: bool = False) -> bool:
        """Ask until nothing is left to ask; False when the person stops before.

        With `until_settled` it also ends when the strategy would stop.
        """
        if not sys.stdin.isatty():
            complain("reading answers from standard input.")
        with stage("fitting models for the first question"):
            self.session.warm_up()
        self.terminal.write(self.terminal.help(self.session.config.ask))
        try:
            while not (until_settled and self.session.status().settled):
                questions = self.session.ask(annotator=self.annotator)
                if not questions:
                    break
                self._put(questions[0])
        except (EOFError, KeyboardInterrupt):
            self.terminal.write("Stopped; your answers are kept.\n")
            with suppress(StoreError):  # leases end by themselves, too
                self.session.leave(annotator=self.annotator)
            return False
        return True

    def _put(self, question: Question) -> None:
        """Ask one question and act on the reply."""
        session, who = self.session, self.annotator
        left = session.status(annotator=who).left
        count = f"{left.low}" if left.low == left.high else f"{left.low} to {left.high}"
        heading = f"Question {question.id}, about {count} left"
        # As they are shown, whatever others change meanwhile.
        groups = session.groups.choices(question.cluster)
        reply = self.terminal.ask(heading, card_of(session, question, groups))
        if reply == "s":
            session.skip(question.id, annotator=who)
        elif reply == "u":
            self._undo()
        else:
            value = _by_group(groups, reply)
            if is_unsure(value):
                session.unsure(question.id, annotator=who)
                return
            try:
                session.tell(question.id, value, annotator=who)
            except AnswerError as error:  # no point of the scale
                self.terminal.write(f"{error}\n")

    def _undo(self) -> None:
        """Take back the last answer, and print the outcome."""
        try:
            undone = self.session.undo(annotator=self.annotator)
        except SessionError as error:
            self.terminal.write(f"{error}\n")
            return
        if not undone.reopened:
            self.terminal.write(f"{undo_text(undone, self.session.groups.all_names)}\n")
