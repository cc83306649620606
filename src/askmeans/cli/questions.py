"""Questions, answers and groups of a session, as people read and type them.

Groups go by name, or by the number that the page shows, from 1. In Python and in files a group
keeps the number from 0 that it was made with; here, as on the page, the present groups are counted.
"""

import dataclasses
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from askmeans._util.checks import whole_number
from askmeans.cli.output import complain
from askmeans.exceptions import (
    AnswerError,
    ParameterError,
    SessionError,
    StoreError,
)
from askmeans.oracles.console import (
    help_text,
    leads,
    parse_reply,
    parse_side,
    replies_text,
    show_values,
    wording,
)
from askmeans.queries.values import group_of, parse_row, row_text
from askmeans.sessions import Group, Question, Session, Undone

__all__ = ["Conversation", "after_undo", "answer_text", "describe", "group_number", "is_unsure",
           "listed_groups", "numbered", "parse_value", "question_values", "required_value",
           "typed_number"]  # fmt: skip

_ENDING = "s to skip, u to undo the last answer, q to stop. Every answer is saved at once."
FIRST = 1  # number of the first group, here and on the page
_UNDONE = {  # changes of groups
    "group": "The group is gone again.",
    "merge": "The groups are two again.",
    "remove": "The group is there again.",
}
_FORMS = {
    "relative": "a or b, whichever the first is more like, 'both'",
    "group": "one of the groups, by number or name ({}), shares of them (1:.7,2:.3) that sum to at "
    "most 1, 'none' of these",
}


def describe(session: Session, question: Question) -> str:
    """A question as people read it: its items, the groups, and what is asked."""
    text = ""
    for lead, row in zip(leads(question.kind, len(question.items)), question.items, strict=True):
        item = session.item(row)
        parts = [part for part in (item.text, item.image, show_values(item.fields.items())) if part]
        text += f"  {lead}item {item.id}: {'; '.join(parts)}\n"
    name = None
    if question.cluster is not None:
        name = _with_exemplars(session, question.cluster, question)
    if question.kind == "group":
        for number, group in numbered(session):
            text += f"    {number}  {_with_exemplars(session, group.number, question)}\n"
    return text + wording(question.kind, len(question.items), name)


def _with_exemplars(session: Session, group: int, question: Question) -> str:
    """A group's name, and typical items of it."""
    rows = session.exemplars(group, without=question.items)
    labels = "; ".join(session.item(row).label for row in rows)
    name = session.groups.all_names[group]
    return f"{name} (with {labels})" if labels else name


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
            for number, group in numbered(session)
        ]
    return values


def parse_value(session: Session, question: Question, reply: str) -> Any:
    """The typed answer: a number or shares by group; NaN for "cannot say", None if it is none."""
    if question.kind == "relative":
        return parse_side(reply.lower())
    if question.kind != "group":
        return parse_reply(reply.lower())
    groups = list(session.groups)
    row = parse_row(reply, [group.name for group in groups], FIRST)
    if row is None:
        return None
    if any(map(math.isnan, row)):
        return math.nan
    return {group.number: share for group, share in zip(groups, row, strict=True) if share > 0.0}


def required_value(session: Session, question: Question, reply: str, others: str) -> Any:
    """The typed answer, or an AnswerError that lists what may be typed; `others` are words."""
    value = parse_value(session, question, reply)
    if value is None:
        form = _FORMS.get(question.kind, "a number from 0 to 1, a percentage")
        raise AnswerError(
            f"VALUE must be {form.format(listed_groups(session))}, {others}. "
            f"Got {reply!r:.60} instead."
        )
    return value


def is_unsure(value: Any) -> bool:
    """Whether an answer is "cannot say"."""
    return isinstance(value, float) and math.isnan(value)


def answer_text(value: float | tuple[float, ...] | None, names: list[str]) -> str:
    """An answer in words; groups by their names."""
    if isinstance(value, tuple):
        return row_text(value, names)
    return "'cannot say'" if value is None else f"{value:g}"


def after_undo(undone: Undone, names: list[str]) -> str:
    """The state of a question, or of the groups, after an undo."""
    if undone.question is None:
        return _UNDONE[undone.kind]
    if undone.group is not None:
        return f"The group {undone.group} is gone again, and its question is open."
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
    number = whole_number(text.strip())
    if number is None:
        raise ParameterError(f"{what} must be a number from 0. Got {text!r:.60} instead.")
    return number


class Conversation:
    """A session's questions in the terminal, one after the other."""

    def __init__(self, session: Session, annotator: str, write: Callable[[str], None]) -> None:
        self.session = session
        self.annotator = annotator
        self.write = write

    def run(self, *, until_settled: bool = False) -> bool:
        """Ask until nothing is left to ask; False when the person stops before.

        With `until_settled` it also ends when the strategy would stop.
        """
        if not sys.stdin.isatty():
            complain("reading answers from standard input.")
        self.write(help_text(self.session.config.ask, _ENDING) + "\n")
        try:
            while not (until_settled and self.session.status().settled):
                questions = self.session.ask(annotator=self.annotator)
                if not questions:
                    break
                self._put(questions[0])
        except (EOFError, KeyboardInterrupt):
            self.write("Stopped; your answers are kept.\n")
            with suppress(StoreError):  # leases end by themselves, too
                self.session.leave(annotator=self.annotator)
            return False
        return True

    def _put(self, question: Question) -> None:
        """Put one question and act on the reply; it comes again where that was no answer."""
        session, kind = self.session, question.kind
        left = session.status(annotator=self.annotator).left
        about = f"{left.low}" if left.low == left.high else f"{left.low} to {left.high}"
        self.write(f"\nQuestion {question.id}, about {about} left\n")
        reply = self._reply(f"{describe(session, question)} [{replies_text(kind)}, ?, s, u, q] ")
        if reply.lower() == "s":
            session.skip(question.id, annotator=self.annotator)
            return
        if reply.lower() == "u":
            self._undo()
            return
        value = parse_value(session, question, reply)
        if value is None:
            self.write(f"{reply!r} is no answer. {help_text(kind, _ENDING)}\n")
        elif is_unsure(value):
            session.unsure(question.id, annotator=self.annotator)
        else:
            try:
                session.tell(question.id, value, annotator=self.annotator)
            except AnswerError as error:  # no point of the scale
                self.write(f"{error}\n")

    def _reply(self, prompt: str) -> str:
        """One line from the person; EOFError when they stop."""
        self.write(prompt)
        line = sys.stdin.readline()
        if not line or line.strip().lower() == "q":
            raise EOFError
        return line.strip()

    def _undo(self) -> None:
        """Take back the last answer, and print what follows from that."""
        try:
            undone = self.session.undo(annotator=self.annotator)
        except SessionError as error:
            self.write(f"{error}\n")
            return
        if not undone.reopened:
            self.write(f"{after_undo(undone, self.session.groups.all_names)}\n")
