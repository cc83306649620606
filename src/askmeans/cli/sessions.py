"""Session commands that take a line or two: ask, tell, undo, status, import, rename, pause.

Each says first which database it works on; with --json that is a key of what is printed.
"""

import dataclasses
import json
import math
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from askmeans._util.checks import check_name, whole_number
from askmeans.cli.answer_file import AnswerFile
from askmeans.cli.group_numbers import (
    listed_groups,
    named_group,
    numbered,
    parse_shares,
    rename_group,
)
from askmeans.cli.options import Which
from askmeans.cli.printing import say
from askmeans.cli.session_commands import Regroup
from askmeans.cli.tables import plain
from askmeans.exceptions import AnswerError, DataError, ParameterError
from askmeans.oracles.console import leads, parse_reply, parse_side, show_values, wording
from askmeans.queries import Answer
from askmeans.queries.shares import row_text
from askmeans.sessions import Question, Receipt, Session, SessionState, Undone, conflicts
from askmeans.sessions import open as open_session
from askmeans.sessions.store import (
    backup_store,
    copy_store,
    file_of,
    is_postgresql,
    shown,
    upgrade_store,
)

__all__ = ["after_undo", "answers_in", "ask", "backup", "budget", "copy", "describe",
           "is_unsure", "named", "opened", "parse_value", "pause", "rename", "say_database",
           "show_json", "status", "take_in", "tell", "undo", "upgrade", "whole"]  # fmt: skip

_CONFLICTS = 10  # shown at most
_REGROUPED = {  # what an undo did to the groups
    "group": "The group is gone again.",
    "merge": "The groups are two again.",
    "remove": "The group is there again.",
}


@contextmanager
def opened(which: Which) -> Iterator[Session]:
    """The session, after its database's path was printed."""
    if not which.as_json:
        say_database(which.database)
    with closing(open_session(which.database, which.name)) as session:
        yield session


def say_database(database: str) -> None:
    """Say which database it is, if there is one."""
    if is_postgresql(database) or file_of(database).exists():
        say(f"database: {shown(database)}")


def named(database: str) -> str:
    """A database as it is named in a command to come: as it was given, but for a password."""
    return shown(database) if is_postgresql(database) else database


def show_json(session: Session, values: dict[str, Any]) -> None:
    """One JSON object, the database and the session first."""
    say(json.dumps({"database": session.url, "session": session.name, **plain(values)}))


def describe(session: Session, question: Question) -> str:
    """A question as people read it: its items, and what is asked."""
    text = ""
    for lead, row in zip(leads(question.kind, len(question.items)), question.items, strict=True):
        item = session.item(row)
        shown = [part for part in (item.text, item.image, show_values(item.fields.items())) if part]
        text += f"  {lead}item {item.id}: {'; '.join(shown)}\n"
    name = None
    if question.cluster is not None:
        name = _with_exemplars(session, question.cluster, question)
    if question.kind == "group":
        for number, group in numbered(session):
            text += f"    {number}  {_with_exemplars(session, group.number, question)}\n"
    return text + wording(question.kind, len(question.items), name)


def _with_exemplars(session: Session, group: int, question: Question) -> str:
    """A group's name, and items that tell what it is."""
    rows = session.exemplars(group, without=question.items)
    like = "; ".join(session.item(row).label for row in rows)
    name = session.group_names[group]
    return f"{name} (with {like})" if like else name


def parse_value(session: Session, question: Question, reply: str) -> Any:
    """What somebody typed: a number or a row; NaN for "cannot say", None for no answer."""
    if question.kind == "relative":
        return parse_side(reply.lower())
    if question.kind != "group":
        return parse_reply(reply.lower())
    return parse_shares(session, reply)


def is_unsure(value: Any) -> bool:
    """Whether what was typed is "cannot say"."""
    return isinstance(value, float) and math.isnan(value)


def ask(which: Which, n: int, annotator: str) -> bool:
    """Print questions; False where there are none."""
    with opened(which) as session:
        questions = session.ask(n, annotator=annotator)
        report = session.status(annotator=annotator)
        if which.as_json:
            shown = [_question(session, question) for question in questions]
            holding = [dataclasses.asdict(each) for each in report.holding]
            told = {"state": report.state, "questions": shown, "holding": holding}
            show_json(session, told)
        else:
            for question in questions:
                say(f"question {question.id}\n{describe(session, question)}")
            if not questions:
                say(f"No question for {annotator}: {report.state}.")
            if report.state is SessionState.WAITING:
                for holder in report.holders:
                    say(f"  {holder}")
        return bool(questions)


def tell(which: Which, question: str, value: str, annotator: str, key: str | None) -> None:
    """Take an answer in."""
    check_name(annotator, "annotator", "askmeans tell")
    with opened(which) as session:
        number = whole(question, "QUESTION")
        if value.strip().lower() == "skip":
            receipt = session.skip(number, annotator=annotator, key=key)
        else:
            asked = session.question(number)
            told = parse_value(session, asked, value.strip())
            if told is None:
                forms = {
                    "group": f"one of the groups, by number or name ({listed_groups(session)}), "
                    "shares of them (1:.7,2:.3) that sum to at most 1, 'none' of these",
                    "relative": "a or b, whichever the first is more like, 'both'",
                }
                form = forms.get(asked.kind, "a number from 0 to 1, a percentage")
                raise AnswerError(
                    f"VALUE must be {form}, '?' for cannot say, or 'skip'. Got {value!r} instead."
                )
            if is_unsure(told):
                receipt = session.unsure(number, annotator=annotator, key=key)
            else:
                receipt = session.tell(number, told, annotator=annotator, key=key)
        if which.as_json:
            show_json(session, dataclasses.asdict(receipt))
        else:
            say(_kept(receipt, session.group_names))


def undo(which: Which, question: int | None, annotator: str) -> None:
    """Take an answer back."""
    with opened(which) as session:
        undone = session.undo(question, annotator=annotator)
        void = [later.id for later in undone.void]
        if which.as_json:
            show_json(
                session,
                {
                    "question": None if undone.question is None else undone.question.id,
                    "kind": undone.kind,
                    "value": undone.value,
                    "void": void,
                    "reopened": undone.reopened,
                    "value_now": undone.value_now,
                },
            )
            return
        say(after_undo(undone, session.group_names))
        if void:
            say(f"Questions that followed from it: {', '.join(map(str, void))}. They may not come.")


def status(which: Which, annotator: str | None) -> None:
    """Print where a session stands."""
    with opened(which) as session:
        report = session.status(annotator=annotator, estimate=True)
        if which.as_json:
            show_json(session, dataclasses.asdict(report))
            return
        left = report.left
        budget = "" if report.budget is None else f" of a budget of {report.budget}"
        low, high = left.minutes
        say(f"session: {report.name}, {report.state}")
        say(f"answered: {report.answered}{budget}; imported: {report.held}")
        say(f"open now: {report.open} (round {report.round}), {report.leased} with somebody")
        for holder in report.holders:
            say(f"  {holder}")
        say(
            f"left: {left.low} to {left.high} questions, {low:.0f} to {high:.0f} minutes "
            f"({left.basis})"
        )
        for who, counts in report.annotators.items():
            each = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
            say(f"  {who}: {each}")
        if report.expected_wrong is None and report.estimated_error is not None:
            say(f"estimated error: {report.estimated_error:.3f} ({report.error_basis})")
        else:
            say(report.wrong_items)
        if report.good_enough:
            say("Good enough: you may stop now; more answers still help.")
        elif report.settled and report.state is SessionState.ASKING:
            say("As many items were asked about as planned; more answers still help.")
        if report.contradictions:
            say(f"contradictions: {len(report.contradictions)}")
            names = session.group_names
            for conflict in report.contradictions[:_CONFLICTS]:
                text = conflicts.describe(conflict, lambda row: session.item(row).label, names)
                say(f"  {text}")
        say(f"clusters: {'; '.join(session.cluster_names)}")
        if report.suggestion:
            say(f"{report.suggestion} Add one: askmeans groups {named(which.database)} --add NAME")
        for note in report.notes:
            say(f"note: {note}")


def answers_in(session: Session, file: Path) -> Collection[Answer]:
    """The answers in a file: a CSV, or what another tool wrote."""
    if not file.is_file():
        found = "a folder" if file.is_dir() else "nothing"
        raise DataError(
            f"{file.absolute()} must be a file of answers. Got {found} there; `askmeans export` "
            "writes one."
        )
    ids = session.rows.ids()[: len(session.rows.base)]
    if file.suffix.lower() in (".json", ".parquet", ".pq"):
        from askmeans.cli.exchange import labels_as_answers

        return labels_as_answers(session, file)
    return AnswerFile(file, ids, session.group_names).ledger(untouched=True).history


def take_in(which: Which, file: Path) -> None:
    """Take in answers held already."""
    with opened(which) as session:
        answers = answers_in(session, file)
        report = session.take_in(answers)
        if which.as_json:
            show_json(session, {"read": len(answers), **dataclasses.asdict(report)})
            return
        say(f"{report.new} answers taken in, {report.there} were there already.")
        if report.otherwise:
            say(f"{report.otherwise} had been answered here otherwise; those answers stay.")


def rename(which: Which, group: str, text: str) -> None:
    """Rename a group."""
    with opened(which) as session:
        rename_group(session, group, text)
        say(f"clusters: {'; '.join(session.cluster_names)}")


def groups(which: Which, move: Regroup, annotator: str) -> None:
    """List the groups, after one was added, merged, removed, renamed, described or taken back."""
    with opened(which) as session:
        if move.add is not None:
            session.add_group(move.add, annotator=annotator)
        if move.merge is not None:
            _merge(session, move.merge, annotator)
        if move.rename is not None:
            rename_group(session, *move.rename, annotator=annotator)
        if move.describe is not None:
            number = named_group(session, move.describe[0])
            session.describe(number, move.describe[1], annotator=annotator)
        if move.remove is not None:
            session.remove_group(named_group(session, move.remove), annotator=annotator)
        if move.undo:
            undone = session.undo(event=session.last_regrouping(), annotator=annotator)
            if not which.as_json:
                say(after_undo(undone, session.group_names))
        result, status = session.result(), session.status()
        sizes = result.memberships.sum(axis=0).tolist()
        if which.as_json:
            listed = [
                {**dataclasses.asdict(group), "number": number, "size": size}
                for (number, group), size in zip(numbered(session), sizes, strict=True)
            ]
            told = {"suggested_clusters": status.suggested_clusters,
                    "suggestion": status.suggestion}  # fmt: skip
            show_json(session, {"groups": listed, **told})
            return
        if result.without_answers:
            say(result.without_answers)
        for (number, group), size in zip(numbered(session), sizes, strict=True):
            count = "" if result.basis == "nothing" else f": about {size:.0f} items"
            what = f"; {group.description}" if group.description else ""
            say(f"  {number}  {group.name}{count}{what}")
        if status.suggestion:
            say(f"{status.suggestion} Add one: askmeans groups {named(which.database)} --add NAME")


def _merge(session: Session, two: tuple[str, str], annotator: str) -> None:
    """Make two groups one."""
    into, other = (named_group(session, text) for text in two)
    if into == other:
        raise ParameterError(
            f"--merge must have two different groups among {listed_groups(session)}. "
            f"Got {two[0]!r:.60} and {two[1]!r:.60} instead."
        )
    session.merge_groups(into, other, annotator=annotator)


def budget(which: Which, number: str) -> None:
    """Allow another number of questions."""
    with opened(which) as session:
        session.set_budget(whole(number, "N"))
        report = session.status()
        say(f"{report.answered} of a budget of {report.budget} answered; {report.state}.")


def pause(which: Which, *, off: bool) -> None:
    """Hand out no questions, or hand them out again."""
    with opened(which) as session:
        if off:
            session.resume()
        else:
            session.pause()
        say("Questions are handed out again." if off else "Paused; answers are still taken.")


def upgrade(database: str) -> None:
    """Bring a database up to date."""
    say(f"database: {shown(database)}")
    backup = upgrade_store(database)
    say("Nothing to do." if backup is None else f"Upgraded; the old one is {backup}")


def backup(database: str, file: Path) -> None:
    """Write a copy of a database."""
    say(f"database: {shown(database)}")
    elsewhere = backup_store(database, file.absolute())
    say(f"backup: {file.absolute()}")
    for path in elsewhere:
        say(f"not in it, keep it, too: {path}")


def copy(source: str, target: str) -> None:
    """Copy all sessions of a database into one that has none."""
    say(f"database: {shown(source)}")
    elsewhere = copy_store(source, target)
    say(f"copy: {shown(target)}")
    for path in elsewhere:
        say(f"not in it, keep it, too: {path}")


def _question(session: Session, question: Question) -> dict[str, Any]:
    """A question with its items, for machines."""
    name = None if question.cluster is None else session.group_names[question.cluster]
    items = [dataclasses.asdict(session.item(row)) for row in question.items]
    told = {**dataclasses.asdict(question), "cluster_name": name, "shown": items}
    if question.kind == "group":
        told["groups"] = [
            {
                "number": number,
                "name": group.name,
                "exemplars": session.exemplars(group.number, without=question.items),
            }
            for number, group in numbered(session)
        ]
    return told


def _text(value: float | tuple[float, ...] | None, names: list[str]) -> str:
    """An answer in words; groups by their names."""
    if isinstance(value, tuple):
        return row_text(value, names)
    return "'cannot say'" if value is None else f"{value:g}"


def _kept(receipt: Receipt, names: list[str]) -> str:
    """What a receipt says, in words."""
    what = receipt.kind if receipt.kind == "skip" else _text(receipt.value, names)
    again = ", as before" if receipt.repeated else ""
    late = " (late)" if receipt.late else ""
    return f"Kept: {what} to question {receipt.question}{late}{again}."


def after_undo(undone: Undone, names: list[str]) -> str:
    """What became of the question of an undo."""
    if undone.question is None:
        return _REGROUPED[undone.kind]
    if undone.group is not None:
        return f"The group {undone.group} is gone again, and its question is open."
    if undone.reopened:
        return f"Question {undone.question.id} is open again."
    now = _text(undone.value_now, names)
    return (
        f"Your {undone.kind} to question {undone.question.id} is taken back. Somebody else "
        f"answered it, too: {now} counts now, unless you answer again."
    )


def whole(text: str, what: str) -> int:
    """A whole number."""
    number = whole_number(text.strip())
    if number is None:
        raise ParameterError(f"{what} must be a number from 0. Got {text!r:.60} instead.")
    return number
