"""The commands about people and their answers: invite, agreement, adjudicate, gold, pseudonym."""

import dataclasses
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer

from askmeans.cli.options import (
    PORT,
    Annotator,
    QuestionNumber,
    SessionOptions,
    Value,
    command,
)
from askmeans.cli.output import say, show_json
from askmeans.exceptions import AnswerError

if TYPE_CHECKING:
    from askmeans.sessions import Disagreement, Invite, Session

__all__ = ["agreement"]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@command
def invite(
    options: SessionOptions,
    person: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Who is invited.")] = None,
    role: Annotated[
        Literal["owner", "annotator"], typer.Option(help="What they may do.")
    ] = "annotator",
    days: Annotated[float, typer.Option(help="How long the link is valid.")] = 30,
    revoke: Annotated[
        str | None,
        typer.Option(metavar="NAME|NUMBER", help="End a person's invitations, or one of them."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="The page's address, for the link; default: where it was served last."),
    ] = None,
) -> None:
    """Make a link for one person; without NAME, list all with their last use."""
    if revoke is not None and person is not None:
        raise typer.BadParameter("expected DB and --revoke NAME, without another name")
    with options.open() as session:
        if revoke is not None:
            _show_invites(session, session.people.revoke(_revoked(session, revoke)), options)
        elif person is None:
            _show_invites(session, session.people.invites(), options)
        else:
            from askmeans.sessions.served import recall

            served = recall(session)
            address = address or (served.address if served else f"http://127.0.0.1:{PORT}")
            token = session.people.invite(person, role=role, days=days)
            link, until = (
                f"{address.rstrip('/')}/?token={token}",
                session.people.invites()[-1].until,
            )
            if options.as_json:
                show_json(session, {"link": link, "until": until})
                return
            say(link)
            say(f"For {person}, {role}, until {_time(until)}; whoever has it comes in as {person}. "
                "It is not shown again.")  # fmt: skip
            if urlsplit(address).hostname in _LOOPBACK:
                say("It works on this machine only. For others: serve with --public-host, or add "
                    "--address https://NAME here.")  # fmt: skip


def _show_invites(session: "Session", invites: "list[Invite]", options: SessionOptions) -> None:
    """Invitations, one in a line."""
    if options.as_json:
        show_json(session, {"invites": [dataclasses.asdict(one) for one in invites]})
        return
    for one in invites:
        used = "never used" if one.used is None else f"last used {_time(one.used)}"
        say(
            f"{one.number}  {one.name}  {one.role}  {one.state}  until {_time(one.until)}  {used}  "
            f"(by {one.made_by})"
        )
    if not invites:
        say("Nobody is invited yet: askmeans invite DB NAME")


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
    n: Annotated[int, typer.Option("-n", "--questions", help="How many to list at most.")] = 10,
) -> None:
    """Show how well people agree, who differs from whom, and on which questions."""
    with options.open() as session:
        report, listed = session.people.agreement(), session.people.disagreements(n)
        if options.as_json:
            questions = [dataclasses.asdict(each) for each in listed]
            show_json(session, {**dataclasses.asdict(report), "disagreements": questions})
            return
        if math.isnan(report.alpha):
            say(f"Nothing to compare yet: {report.questions} questions have several answers.")
            return
        say(f"Krippendorff's alpha: {report.alpha:.3f}, of {report.questions} questions")
        for title, alphas in (("person", report.by_person), ("group", report.by_group)):
            for who, alpha in alphas.items():
                if not math.isnan(alpha):
                    say(f"  {title} {who}: {alpha:.3f}")
        for pair in report.pairs:
            one, other = pair.people
            say(f"  {one} and {other}: {pair.difference:.2f} apart, {pair.questions} questions")
        for each in listed:
            say(_disagreement(session, each))


def _disagreement(session: "Session", each: "Disagreement") -> str:
    """A question that people answered differently, in a line."""
    from askmeans.cli.questions import answer_text

    names = session.groups.names
    items = ", ".join(session.item(row).label for row in each.items)
    answers = [f"{who}: {answer_text(value, names)}" for who, value in each.answers.items()]
    decided = "" if each.decided is None else f"; decided: {answer_text(each.decided, names)}"
    return f"question {each.question} ({items}): {'; '.join(answers)}{decided}"


@command
def adjudicate(
    options: SessionOptions, question: QuestionNumber, value: Value, annotator: Annotator = "me"
) -> None:
    """Decide a question that people answered differently: the decision counts instead.

    VALUE is as in tell; 'back' takes a decision back.
    """
    from askmeans.cli.questions import is_unsure, required_value, typed_number

    with options.open() as session:
        number, text = typed_number(question, "QUESTION"), value.strip()
        decision = None
        if text.lower() != "back":
            words = "as in `askmeans tell`, or 'back'"
            decision = required_value(session, session.question(number), text, words)
            if is_unsure(decision):
                raise AnswerError(
                    "VALUE must be an answer to the question, as in `askmeans tell`, or 'back'. "
                    f"Got {text!r:.60} instead."
                )
        receipt = session.people.adjudicate(number, decision, annotator=annotator)
        if options.as_json:
            show_json(session, dataclasses.asdict(receipt))
        elif decision is None:
            say("Taken back; the answers count again.")
        else:
            say("Decided; it counts instead of the answers.")


@command
def gold(
    options: SessionOptions,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="A CSV of known answers: item (an id) and value (a group)."
        ),
    ] = None,
    feedback: Annotated[
        bool | None,
        typer.Option(
            "--feedback/--no-feedback", help="Whether people see the known answer afterwards."
        ),
    ] = None,
) -> None:
    """Mix questions with known answers with the others, unmarked; show how people answered them."""
    from askmeans.cli.answer_files import session_answers

    with options.open() as session:
        report = None if file is None else session.people.add_gold(session_answers(session, file))
        if feedback is not None:
            session.settings.set_option("gold_feedback", feedback)
        scores = session.people.gold_report()
        if options.as_json:
            people = {who: dataclasses.asdict(score) for who, score in scores.items()}
            added = {} if report is None else dataclasses.asdict(report)
            show_json(session, {**added, "people": people})
            return
        if report is not None:
            say(f"{report.new} gold questions added, {report.existing} were there already.")
            if report.conflicting:
                say(f"{report.conflicting} were there with another answer, which stays.")
        for who, score in scores.items():
            say(f"  {who}: {score.questions} gold questions, {score.difference:.2f} off on average")
        if not scores:
            say("Nobody has answered a gold question yet.")


@command
def pseudonym(
    options: SessionOptions,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Whose name is replaced.")],
    pseudonym: Annotated[
        str | None, typer.Option("--as", help="The new name; default: person 1 and so on.")
    ] = None,
    annotator: Annotator = "me",
) -> None:
    """Replace a person's name in a session's log and exports, and log that it was done."""
    with options.open() as session:
        new = session.people.pseudonymize(person, pseudonym, annotator=annotator)
        if options.as_json:
            show_json(session, {"name": new})
        else:
            say(f"Called {new} from now on; files that were exported or backed up before are not.")
