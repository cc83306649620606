"""The commands about people and their answers: invite, agreement, adjudicate, gold, pseudonym."""

import math
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer
from typer import Argument, Option

from askmeans.cli.options import PORT, Annotator, QuestionNumber, SessionOptions, Value, command
from askmeans.exceptions import AnswerError

if TYPE_CHECKING:
    from askmeans.sessions import Disagreement, Invite, Session

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@command
def invite(
    options: SessionOptions,
    person: Annotated[str | None, Argument(metavar="NAME", help="Whom to invite.")] = None,
    role: Annotated[Literal["owner", "annotator"], Option(help="What they may do.")] = "annotator",
    days: Annotated[float, Option(help="How long the link is valid.")] = 30,
    revoke: Annotated[
        str | None,
        Option(metavar="NAME|NUMBER", help="End a person's invitations, or one of them."),
    ] = None,
    address: Annotated[
        str | None,
        Option(help="The page's address, for the link; default: where it was served last."),
    ] = None,
) -> None:
    """Create a link for one person; without NAME, list all invitations."""
    if revoke is not None and person is not None:
        raise typer.BadParameter("expected DB and --revoke NAME, without another name")
    with options.open() as session:
        if revoke is not None:
            _show_invites(options, session, session.people.revoke(_revoked(session, revoke)))
        elif person is None:
            _show_invites(options, session, session.people.invites())
        else:
            from askmeans.sessions.served import recall

            served = recall(session)
            address = address or (served.address if served else f"http://127.0.0.1:{PORT}")
            token = session.people.invite(person, role=role, days=days)
            link, until = (
                f"{address.rstrip('/')}/?token={token}",
                session.people.invites()[-1].until,
            )
            lines = [
                link,
                f"For {person}, {role}, until {_time(until)}; whoever has it comes in as {person}. "
                "It is not shown again.",
            ]
            if urlsplit(address).hostname in _LOOPBACK:
                lines.append(
                    "It works on this machine only. For others: serve with --public-host, or add "
                    "--address https://NAME here."
                )
            options.show(session, {"link": link, "until": until}, *lines)


def _show_invites(options: SessionOptions, session: "Session", invites: "list[Invite]") -> None:
    """Invitations, one in a line."""
    lines = []
    for one in invites:
        used = "never used" if one.used is None else f"last used {_time(one.used)}"
        lines.append(
            f"{one.number}  {one.name}  {one.role}  {one.state}  until {_time(one.until)}  {used}  "
            f"(by {one.made_by})"
        )
    values = {"invites": [asdict(one) for one in invites]}
    options.show(session, values, *(lines or ["No invitations yet: askmeans invite DB NAME"]))


def _revoked(session: "Session", text: str) -> int | str:
    """The person of this name; else the invitation of this number."""
    names = {one.name for one in session.people.invites()}
    return int(text) if text not in names and text.isascii() and text.isdigit() else text


def _time(at: float) -> str:
    """A time, to the minute."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}Z"


@command
def agreement(
    options: SessionOptions,
    n: Annotated[int, Option("-n", "--questions", help="How many to list at most.")] = 10,
) -> None:
    """Show how well people agree, by person, pair and group, and the questions they disagree on."""
    with options.open() as session:
        report, listed = session.people.agreement(), session.people.disagreements(n)
        lines = [f"Nothing to compare yet: {report.questions} questions have several answers."]
        if not math.isnan(report.alpha):
            lines = [f"Krippendorff's alpha: {report.alpha:.3f}, of {report.questions} questions"]
            for title, alphas in (("person", report.by_person), ("group", report.by_group)):
                known = {who: alpha for who, alpha in alphas.items() if not math.isnan(alpha)}
                lines += [f"  {title} {who}: {alpha:.3f}" for who, alpha in known.items()]
            for pair in report.pairs:
                people = " and ".join(pair.people)
                lines.append(f"  {people}: {pair.difference:.2f} apart, {pair.questions} questions")
            lines += [_disagreement_text(session, each) for each in listed]
        values = {**asdict(report), "disagreements": [asdict(each) for each in listed]}
        options.show(session, values, *lines)


def _disagreement_text(session: "Session", each: "Disagreement") -> str:
    """A question that people answered differently, in a line."""
    from askmeans.cli.questions import answer_text

    names = session.groups.all_names
    items = ", ".join(session.item(row).label for row in each.items)
    answers = [f"{who}: {answer_text(value, names)}" for who, value in each.answers.items()]
    decided = "" if each.decided is None else f"; decided: {answer_text(each.decided, names)}"
    return f"question {each.question} ({items}): {'; '.join(answers)}{decided}"


@command
def adjudicate(
    options: SessionOptions, question: QuestionNumber, value: Value, annotator: Annotator = "me"
) -> None:
    """Decide a question on which people disagree; the decision counts instead of the answers.

    VALUE is as in tell; 'back' takes a decision back.
    """
    from askmeans.cli.questions import is_unsure, parse_value, typed_number
    from askmeans.sessions.events import as_dict

    with options.open() as session:
        number, text = typed_number(question, "QUESTION"), value.strip()
        decision = None
        if text.lower() != "back":
            words = "as in `askmeans tell`, or 'back'"
            decision = parse_value(session, session.question(number), text, words)
            if is_unsure(decision):
                raise AnswerError(
                    "VALUE must be an answer to the question, as in `askmeans tell`, or 'back'. "
                    f"Got {text!r:.60} instead."
                )
        event = session.people.adjudicate(number, decision, annotator=annotator)
        line = "Decided; it counts instead of the answers."
        options.show(
            session,
            as_dict(event),
            "Taken back; the answers count again." if decision is None else line,
        )


@command
def gold(
    options: SessionOptions,
    file: Annotated[
        Path | None,
        Argument(metavar="FILE", help="A CSV of known answers: item (an id) and value (a group)."),
    ] = None,
    feedback: Annotated[
        bool | None,
        Option(
            "--feedback/--no-feedback", help="Whether people see the known answer after theirs."
        ),
    ] = None,
) -> None:
    """Add questions with known answers, unmarked, and show how people answered them."""
    from askmeans.cli.answer_files import one_per_question, session_answers

    with options.open() as session:
        report = None
        if file is not None:
            answers = one_per_question(
                session_answers(session, file), len(session.groups.all_names)
            )
            report = session.people.add_gold(answers)
        if feedback is not None:
            session.settings.set_option("gold_feedback", feedback)
        scores = session.people.gold_report()
        values, lines = {"people": {who: asdict(score) for who, score in scores.items()}}, []
        if report is not None:
            values = asdict(report) | values
            lines.append(
                f"{report.new} gold questions added, {report.existing} were there already."
            )
            if report.conflicting:
                lines.append(f"{report.conflicting} were there with another answer, which stays.")
        for who, score in scores.items():
            count, off = score.questions, score.difference
            lines.append(f"  {who}: {count} gold questions, {off:.2f} off on average")
        if not scores:
            lines.append("No gold question has been answered yet.")
        options.show(session, values, *lines)


@command
def pseudonym(
    options: SessionOptions,
    person: Annotated[str, Argument(metavar="PERSON", help="Whose name is replaced.")],
    pseudonym: Annotated[
        str | None, Option("--as", help="The new name; default: person 1 and so on.")
    ] = None,
    annotator: Annotator = "me",
) -> None:
    """Replace a person's name in the log and the exports of a session."""
    with options.open() as session:
        new = session.people.pseudonymize(person, pseudonym, annotator=annotator)
        line = f"Called {new} from now on; files that were exported or backed up before are not."
        options.show(session, {"name": new}, line)
